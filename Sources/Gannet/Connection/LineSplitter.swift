import GannetHTTP

/// Splits bytes into lines of text that end with LF, CR LF or CR.
///
/// The same lines come however the bytes are cut. A line that does not end takes no more memory than is allowed.
package struct LineSplitter: Sendable {
  /// A line is longer than is allowed.
  package struct TooLong: Error, Hashable { package let maximum: Int }

  /// How many bytes a line may have, its ending not counted.
  package let maximumBytes: Int
  /// What has come of a line that has not ended.
  private var held: [UInt8] = []
  /// Whether the last line ended with a CR: an LF that follows belongs to it.
  private var endedWithReturn = false
  private var isFirst = true

  /// Makes a splitter; less than 0 is 0.
  package init(maximumBytes: Int) { self.maximumBytes = max(0, maximumBytes) }

  /// Takes bytes up to the end of a line, or all; `input` is not empty. Returns how many, and the line if it ended.
  package mutating func step(_ input: Span<UInt8>) throws(TooLong) -> (consumed: Int, line: String?) {
    var start = 0
    if endedWithReturn {
      endedWithReturn = false
      if input[0] == .lineFeed { start = 1 }
    }
    var end = start
    while end < input.count, input[end] != .lineFeed, input[end] != .carriageReturn { end += 1 }
    // The mark at the beginning is no part of the first line.
    let mark = isFirst ? LineSplitter.mark.count : 0
    guard held.count + (end - start) - mark <= maximumBytes else { throw TooLong(maximum: maximumBytes) }
    held.append(copying: input.extracting(start..<end))
    guard end < input.count else { return (end, nil) }
    endedWithReturn = input[end] == .carriageReturn
    return (end + 1, try takeLine())
  }

  /// The bytes have ended: what stands after the last ending, if anything.
  package mutating func finish() throws(TooLong) -> String? {
    dropMark()
    return held.isEmpty ? nil : try takeLine()
  }

  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private mutating func dropMark() {
    if isFirst, held.starts(with: LineSplitter.mark) { held.removeFirst(LineSplitter.mark.count) }
    isFirst = false
  }

  private mutating func takeLine() throws(TooLong) -> String {
    dropMark()
    guard held.count <= maximumBytes else { throw TooLong(maximum: maximumBytes) }
    defer { held.removeAll(keepingCapacity: held.count <= 4096) }
    return String(decoding: held, as: UTF8.self)
  }
}
