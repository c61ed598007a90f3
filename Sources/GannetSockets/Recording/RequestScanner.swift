/// Finds where a client's request ends, without judging it: the head up to its empty line, then a body of
/// `Content-Length` bytes or in chunks. What makes no sense is read as a request without (more) body: a player of
/// recordings has to answer whatever comes.
package struct RequestScanner: Sendable {
  /// How far the request has come.
  package enum Progress: Hashable, Sendable { case head, body, ended }

  private enum State {
    case head
    case fixedBody(Int64)
    case chunkLine, chunkData(Int64), chunkEnd, trailers
    case ended
  }

  /// Bytes of a line that are kept: of the request line for its target, of field lines for what frames the body.
  private static let keptLineBytes = 64 * 1024

  private var state = State.head
  private var line: [UInt8] = []
  private var contentLength: Int64?
  private var isChunked = false
  private var requestLine: [UInt8]?

  /// Whether the head has an `Authorization` field.
  package private(set) var hasAuthorization = false

  /// Expects the first byte of a request.
  package init() {}

  /// How far the request has come.
  package var progress: Progress {
    switch state {
    case .head: .head
    case .fixedBody, .chunkLine, .chunkData, .chunkEnd, .trailers: .body
    case .ended: .ended
    }
  }

  /// Whether no byte of a request has come yet (empty lines before it don't count).
  package var isIdle: Bool {
    if case .head = state { requestLine == nil && line.isEmpty } else { false }
  }

  /// The second word of the request line, once that line is there.
  package var target: String? {
    guard let words = requestLine?.split(separator: 0x20), words.count > 1 else { return nil }
    return String(decoding: words[1], as: UTF8.self)
  }

  /// Reads on. Gives how much of `input` belongs to the request; less than all only when it has ended, or when
  /// the head has (so a caller sees `progress` change at that byte).
  package mutating func step(_ input: Span<UInt8>) -> Int {
    var position = 0
    while position < input.count {
      switch state {
      case .head:
        guard takeLine(input, &position) else { continue }
        if finishHeadLine() { return position }
      case .fixedBody(let left):
        let taken = min(Int64(input.count - position), left)
        position += Int(taken)
        state = taken == left ? .ended : .fixedBody(left - taken)
      case .chunkData(let left):
        let taken = min(Int64(input.count - position), left)
        position += Int(taken)
        state = taken == left ? .chunkEnd : .chunkData(left - taken)
      case .chunkLine, .chunkEnd, .trailers:
        guard takeLine(input, &position) else { continue }
        finishChunkLine()
      case .ended:
        return position
      }
    }
    return position
  }

  /// Moves bytes up to and including a line feed into `line`, which then lacks its ending.
  private mutating func takeLine(_ input: Span<UInt8>, _ position: inout Int) -> Bool {
    while position < input.count {
      let byte = input[position]
      position += 1
      if byte == 0x0A {
        if line.last == 0x0D { line.removeLast() }
        return true
      }
      if line.count < Self.keptLineBytes { line.append(byte) }
    }
    return false
  }

  /// Gives whether the head ended with this line.
  private mutating func finishHeadLine() -> Bool {
    defer { line.removeAll(keepingCapacity: true) }
    guard requestLine != nil else {
      if !line.isEmpty { requestLine = line }
      return false
    }
    guard line.isEmpty else {
      readField()
      return false
    }
    state = isChunked ? .chunkLine : (contentLength ?? 0) > 0 ? .fixedBody(contentLength ?? 0) : .ended
    return true
  }

  private mutating func readField() {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    let value = String(decoding: line[(colon + 1)...], as: UTF8.self).lowercased()
    let words = value.split { $0 == " " || $0 == "\t" || $0 == "," }
    switch String(decoding: line[..<colon], as: UTF8.self).lowercased() {
    case "content-length": contentLength = words.first.flatMap { Int64($0) }
    case "transfer-encoding": isChunked = words.last == "chunked"
    case "authorization": hasAuthorization = true
    default: break
    }
  }

  private mutating func finishChunkLine() {
    defer { line.removeAll(keepingCapacity: true) }
    switch state {
    case .chunkLine:
      let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
      guard let size = Int64(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0 else {
        state = .ended
        return
      }
      state = size == 0 ? .trailers : .chunkData(size)
    case .chunkEnd: state = .chunkLine
    case .trailers: if line.isEmpty { state = .ended }
    case .head, .fixedBody, .chunkData, .ended: break  // not states that read lines here
    }
  }
}
