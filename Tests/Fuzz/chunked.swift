import GannetHTTP

/// A chunked body: the same whatever the cuts, and what a reader of whole bodies makes of it that was written from
/// RFC 9112 section 7.1 alone.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    var limits = Limits()
    if bytes[1] & 1 > 0 { limits.chunkLineBytes = 8 }
    if bytes[1] & 2 > 0 { limits.trailerBytes = 16 }
    let input = Array(bytes.dropFirst(2))
    let trace = checkCuts(input, choice: bytes[0], { ChunkedDecoder(limits: limits) }) {
      decoder, input, trace throws(SyntaxError) in
      let (consumed, step) = try decoder.step(input)
      switch step {
      case .needsInput:
        return (consumed, false)
      case .body(let range):
        require(range.upperBound <= consumed && !range.isEmpty, "data that was not consumed")
        trace.data.append(copying: input.extracting(range))
      case .trailers(let fields): trace.add("\(fields) \(decoder.tolerated)")
      }
      return (consumed, true)
    } finish: { decoder, trace throws(SyntaxError) in
      trace.add("\(decoder.hasAllData)")
    }
    let model = ChunkedModel(input, lineLimit: limits.chunkLineBytes)
    let data = trace.events.first { $0.hasPrefix("data ") } ?? "data []"
    require(data == "data \(model.data)", "data \(data), by the rules \(model.data)")
    switch model.end {
    case .wrong(let offset):
      require(
        trace.failure?.split(separator: " ").dropFirst().first.flatMap { Int($0) } == offset,
        "\(trace), by the rules wrong at \(offset)")
    case .missing:
      require(trace.failure == nil && trace.events.last == "false", "\(trace), by the rules more is missing")
    case .trailers:
      // They are read as fields anywhere else are.
      require(trace.failure != nil || trace.events.last == "true", "\(trace), by the rules all data is known")
    }
  }
}

/// Reads a chunked body that lies there whole, the plain way.
private struct ChunkedModel {
  enum End: Equatable { case trailers, missing, wrong(Int) }

  var data: [UInt8] = []
  var end = End.missing

  init(_ input: [UInt8], lineLimit: Int) {
    var position = 0
    while end == .missing {
      let lineStart = position
      var digits: [UInt8] = []
      while position < input.count, let digit = input[position].hexadecimalValue,
        position - lineStart < lineLimit
      {
        digits.append(digit)
        // 16 digits, or fewer without the zeros in front, and no more than 2^63-1.
        let significant = digits.drop { $0 == 0 }
        if significant.count > 16 || significant.count == 16 && (significant.first ?? 0) > 7 {
          end = .wrong(position)
          return
        }
        position += 1
      }
      if position == input.count { return }
      if digits.isEmpty { end = .wrong(position) }
      if end != .missing { return }
      guard skipExtensions(input, &position, from: lineStart, lineLimit) else { return }
      let size = digits.reduce(0) { $0 &* 16 &+ Int($1) }
      if size == 0 { end = .trailers }
      if end != .missing { return }
      let available = min(size, input.count - position)
      data += input[position..<position + available]
      position += available
      for byte in [UInt8(13), 10] {
        if position == input.count { return }
        if input[position] != byte { end = .wrong(position) }
        if end != .missing { return }
        position += 1
      }
    }
  }

  /// What follows a size, up to and with its CRLF; false when the body ends there, or is wrong.
  private mutating func skipExtensions(_ input: [UInt8], _ position: inout Int, from start: Int, _ limit: Int)
    -> Bool
  {
    var isExtension = false
    var isQuoted = false
    while position < input.count {
      let byte = input[position]
      if position - start >= limit {
        end = .wrong(position)
        return false
      }
      switch byte {
      case 13 where !isQuoted:
        position += 1
        if position == input.count { return false }
        if input[position] != 10 {
          end = .wrong(position)
          return false
        }
        position += 1
        return true
      case 0x5C where isQuoted:
        position += 1
        if position == input.count { return false }
        let isAllowed = position - start < limit && input[position].isFieldText
        if !isAllowed {
          end = .wrong(position)
          return false
        }
      case 0x22 where isExtension: isQuoted.toggle()
      case 0x3B: isExtension = true
      case 0x20, 0x09: break
      default:
        if !isExtension || !byte.isFieldText {
          end = .wrong(position)
          return false
        }
      }
      position += 1
    }
    return false
  }
}
