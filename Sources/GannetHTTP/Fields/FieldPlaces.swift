/// Where a framing field's value goes on after a fold: from this place of the text on, its bytes come from there in the
/// input.
struct FieldFold: BitwiseCopyable, Sendable {
  let textPosition: UInt32
  let inputOffset: UInt32

  static let byteCount = 8

  init(at textPosition: Int, from inputOffset: Int64) {
    self.textPosition = UInt32(truncatingIfNeeded: textPosition)
    self.inputOffset = UInt32(truncatingIfNeeded: inputOffset)
  }

  /// Reads a fold from the 8 bytes that it was written as.
  init(_ bytes: Span<UInt8>) {
    textPosition = bytes.word(at: 0)
    inputOffset = bytes.word(at: 4)
  }
}

/// The places of one field in the text of its list: 20 bytes, as they lie behind that text.
struct FieldPlaces: BitwiseCopyable, Sendable {
  private let nameStart: UInt32
  private let nameEnd: UInt32
  private let valueStart: UInt32
  private let valueEnd: UInt32
  private let valueOffset: UInt32

  static let byteCount = 20

  var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
  var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
  /// Where the value began in the input it was decoded from: errors found in it later say so. 0 when it was not decoded.
  var inputOffset: Int64 { Int64(valueOffset) }

  /// Makes places within the first 4 GiB.
  @inline(__always)
  init(_ nameStart: Int, _ nameEnd: Int, _ valueStart: Int, _ valueEnd: Int, inputOffset: Int = 0) {
    self.nameStart = UInt32(truncatingIfNeeded: nameStart)
    self.nameEnd = UInt32(truncatingIfNeeded: nameEnd)
    self.valueStart = UInt32(truncatingIfNeeded: valueStart)
    self.valueEnd = UInt32(truncatingIfNeeded: valueEnd)
    valueOffset = UInt32(truncatingIfNeeded: inputOffset)
  }

  /// Reads places from the 20 bytes that they were written as. Inlined, so that only what is asked for is read.
  @inline(__always)
  init(_ bytes: Span<UInt8>) {
    nameStart = bytes.word(at: 0)
    nameEnd = bytes.word(at: 4)
    valueStart = bytes.word(at: 8)
    valueEnd = bytes.word(at: 12)
    valueOffset = bytes.word(at: 16)
  }
}
