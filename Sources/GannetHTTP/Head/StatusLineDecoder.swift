/// Reads a status line a byte at a time (RFC 9112 section 4), after up to four empty lines.
///
/// Tolerated: empty lines before it (left over from an earlier message), several spaces between its parts, no
/// reason phrase and no space before it, bare LF at its end, `ICY` in place of `HTTP/1.0`.
struct StatusLineDecoder: Sendable {
  private enum State {
    case start
    case startLineFeed
    case name(matched: Int)
    case icy(matched: Int)
    case minorVersion
    case beforeStatus(spaces: Int)
    case status(digits: Int)
    case beforeReason
    case reason
    case lineFeed
    case done
  }

  /// Empty lines that may come before the status line.
  static let emptyLineLimit = 4

  private static let name = Array("HTTP/1.".utf8)
  private static let icyName = Array("ICY".utf8)

  private var state = State.start
  private var emptyLines = 0
  private(set) var minorVersion: UInt8 = 1
  private(set) var status = 0
  /// What was tolerated so far.
  private(set) var tolerated: Tolerances = []
  /// The reason phrase, without the spaces around it once the line has ended.
  private(set) var reasonBytes: [UInt8] = []

  /// Whether nothing but empty lines has come.
  var isIdle: Bool {
    switch state {
    case .start, .startLineFeed: true
    default: false
    }
  }

  var isDone: Bool { if case .done = state { true } else { false } }

  /// Begins with the next line, in the same storage.
  mutating func restart() {
    state = .start
    emptyLines = 0
    minorVersion = 1
    status = 0
    tolerated = []
    if !reasonBytes.isEmpty { reasonBytes.removeAll(keepingCapacity: reasonBytes.capacity <= 1024) }
  }

  /// Takes one byte, `offset` bytes after the first one.
  mutating func take(_ byte: UInt8, at offset: Int64) throws(SyntaxError) {
    func wrong(_ rule: SyntaxError.Rule, _ reason: String) -> SyntaxError {
      SyntaxError(rule, byte: byte, at: offset, reason)
    }
    switch state {
    case .start: try takeStart(byte, at: offset)
    case .startLineFeed:
      guard byte == .lineFeed else { throw wrong(.lineEnd, "a CR that no LF follows") }
      state = .start
    case .name(let matched):
      guard byte == Self.name[matched] else {
        let isVersion = matched >= 5
        throw isVersion
          ? wrong(.httpVersion, "not HTTP/1.x")
          : wrong(.statusLine, "no status line: it does not begin with HTTP/")
      }
      state = matched + 1 < Self.name.count ? .name(matched: matched + 1) : .minorVersion
    case .icy(let matched):
      guard byte == Self.icyName[matched] else {
        throw wrong(.statusLine, "no status line: it does not begin with HTTP/")
      }
      minorVersion = 0
      tolerated.insert(.icyStatusLine)
      state = matched + 1 < Self.icyName.count ? .icy(matched: matched + 1) : .beforeStatus(spaces: 0)
    case .minorVersion:
      guard byte.isDigit else { throw wrong(.httpVersion, "no digit after HTTP/1.") }
      minorVersion = byte == 0x30 ? 0 : 1
      state = .beforeStatus(spaces: 0)
    case .beforeStatus(let spaces):
      if byte == .space {
        state = .beforeStatus(spaces: 1)
      } else if spaces == 0 {
        throw wrong(.httpVersion, "no space after the version")
      } else {
        try takeStatus(byte, after: 0, at: offset)
      }
    case .status(digits: 3): try takeAfterStatus(byte, at: offset)
    case .status(let digits): try takeStatus(byte, after: digits, at: offset)
    case .beforeReason:
      if byte != .space { try takeReason(byte, at: offset) }
    case .reason: try takeReason(byte, at: offset)
    case .lineFeed:
      guard byte == .lineFeed else { throw wrong(.lineEnd, "a CR that no LF follows") }
      finish()
    case .done: break  // the owner gives no byte after the end
    }
  }

  /// Takes the bytes at the front of `input` that only go on with what is being read: with the phrase, or with the spaces
  /// before it or before the status. Returns how many.
  mutating func takeRun(_ input: Span<UInt8>) -> Int {
    var count = 0
    switch state {
    case .reason:
      while count < input.count, input[count].isFieldText { count += 1 }
      reasonBytes.append(copying: input.extracting(first: count))
    case .beforeReason, .beforeStatus(spaces: 1):
      while count < input.count, input[count] == .space { count += 1 }
    case .start, .startLineFeed, .name, .icy, .minorVersion, .beforeStatus, .status, .lineFeed, .done: break
    }
    return count
  }

  private mutating func takeStart(_ byte: UInt8, at offset: Int64) throws(SyntaxError) {
    switch byte {
    case 0x48: state = .name(matched: 1)
    case 0x49: state = .icy(matched: 1)
    case .carriageReturn, .lineFeed:
      guard emptyLines < Self.emptyLineLimit else {
        throw SyntaxError(
          .statusLine, byte: byte, at: offset,
          "more than \(Self.emptyLineLimit) empty lines before the status line")
      }
      emptyLines += 1
      state = byte == .lineFeed ? .start : .startLineFeed
    default:
      throw SyntaxError(.statusLine, byte: byte, at: offset, "no status line: " + Self.hint(firstByte: byte))
    }
  }

  private mutating func takeStatus(_ byte: UInt8, after digits: Int, at offset: Int64) throws(SyntaxError) {
    guard byte.isDigit, digits > 0 || byte != 0x30 else {
      throw SyntaxError(.statusCode, byte: byte, at: offset, "the status is not a number from 100 to 999")
    }
    status = status * 10 + Int(byte - 0x30)
    state = .status(digits: digits + 1)
  }

  private mutating func takeAfterStatus(_ byte: UInt8, at offset: Int64) throws(SyntaxError) {
    switch byte {
    case .space: state = .beforeReason
    case .carriageReturn: state = .lineFeed
    case .lineFeed: finishBare()
    default:
      throw SyntaxError(.statusCode, byte: byte, at: offset, "no space or line end after the status")
    }
  }

  private mutating func takeReason(_ byte: UInt8, at offset: Int64) throws(SyntaxError) {
    if byte.isFieldText {
      reasonBytes.append(byte)
      state = .reason
    } else if byte == .carriageReturn {
      state = .lineFeed
    } else if byte == .lineFeed {
      finishBare()
    } else {
      throw SyntaxError(.reasonPhrase, byte: byte, at: offset, "a control byte in the reason phrase")
    }
  }

  private mutating func finishBare() {
    tolerated.insert(.bareLineFeed)
    finish()
  }

  private mutating func finish() {
    while let last = reasonBytes.last, last.isBlank { reasonBytes.removeLast() }
    state = .done
  }

  /// What a server that begins with `firstByte` most likely speaks.
  static func hint(firstByte: UInt8) -> String {
    switch firstByte {
    case 0x15, 0x16: "the server seems to speak TLS"
    case 0x00: "the answer is binary, as of a server that speaks HTTP/2 only"
    case 0x3C: "the server sent a document without a head"
    case 0x52: "it does not begin with HTTP/ (the server may speak RTSP)"
    case 0x53: "it does not begin with HTTP/ (the server may speak SSH)"
    case 0x32: "it does not begin with HTTP/ (the server may speak SMTP or FTP)"
    default: "it does not begin with HTTP/"
    }
  }
}
