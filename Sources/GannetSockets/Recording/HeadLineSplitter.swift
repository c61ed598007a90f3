/// Splits the heads in one direction of a connection into lines, byte by byte, and leaves bodies alone. It does not
/// know where a body ends: whoever does begins anew.
package struct HeadLineSplitter: Sendable {
  private let isClient: Bool
  private var line: [UInt8] = []
  private var isFirst = true
  private var isInformational = false

  /// Whether a head is being read.
  package private(set) var isInHead = true

  /// Expects the first byte of a request's head, or of a response's.
  package init(isClient: Bool) { self.isClient = isClient }

  /// Whether a line has begun and not ended.
  package var isWithinLine: Bool { !line.isEmpty }

  /// Takes a byte of a head. Gives the line that it ends, without its ending; the empty one ends the head.
  package mutating func step(_ byte: UInt8) -> [UInt8]? {
    guard isInHead else { return nil }
    line.append(byte)
    return byte == 0x0A ? finish() : nil
  }

  /// Gives the line that has begun as if it ended here.
  package mutating func finish() -> [UInt8] {
    var text = line
    line.removeAll(keepingCapacity: true)
    while text.last == 0x0A || text.last == 0x0D { text.removeLast() }
    guard !text.isEmpty else {
      // The end of a head, or an empty line before it. After an informational response comes another head.
      if !isFirst { isInHead = isInformational && !isClient }
      isFirst = true
      return text
    }
    if isFirst {
      isInformational = text.starts(with: "HTTP/1.1 1".utf8) && !text.starts(with: "HTTP/1.1 101".utf8)
    }
    isFirst = false
    return text
  }
}
