/// Why a `.wire` file cannot be read, and where.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1, counting every line feed before it, those in recorded bytes too (as an editor does).
  package let line: Int
  /// The byte, from 0, at which that line or the recorded bytes begin.
  package let offset: Int
  /// What is wrong, in words.
  package let reason: String

  /// `line 3, byte 51: …`.
  package var description: String { "line \(line), byte \(offset): \(reason)" }
}

/// Reads a complete `.wire` file.
package struct RecordingParser {
  private let input: [UInt8]
  private var position = 0
  private var lineStart = 0
  private var lineNumber = 0
  private var ended: Set<Int> = []

  private init(_ input: [UInt8]) { self.input = input }

  /// Reads `input`, the bytes of a whole file; linear in its length.
  package static func parse(_ input: [UInt8]) throws(RecordingError) -> Recording {
    var parser = RecordingParser(input)
    return try parser.parseFile()
  }

  private mutating func parseFile() throws(RecordingError) -> Recording {
    guard try nextLine() == "gannet-wire 1" else {
      throw error("the file does not begin with the line \"gannet-wire 1\"")
    }
    guard let first = try nextStatement() else { throw error("the file ends before its load line") }
    var recording = Recording(load: try parseLoad(first))
    while let line = try nextStatement() { try parseStatement(line, into: &recording) }
    return recording
  }

  private mutating func parseStatement(_ line: String, into recording: inout Recording) throws(RecordingError)
  {
    switch word(of: line) {
    case ">", "<":
      recording.records.append(try parseRecord(line, of: recording))
    case "connection":
      let connection = try parseConnection(line)
      guard !recording.connections.contains(where: { $0.number == connection.number }) else {
        throw error("connection \(connection.number) is described twice")
      }
      recording.connections.append(connection)
    case "field", "body", "answer":
      guard recording.connections.isEmpty, recording.records.isEmpty else {
        throw error("\"\(word(of: line))\" belongs to the load and comes before the first connection")
      }
      try parseLoadDetail(line, into: &recording.load)
    case "load":
      throw error("there is one load in a file, and this is a second")
    case let other:
      throw error("\"\(other)\" is none of: field, body, answer, connection, >, <, #")
    }
  }

  // MARK: Statements

  private func parseLoad(_ line: String) throws(RecordingError) -> Recording.Load {
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3, words[0] == "load", !words[1].isEmpty, !words[2].isEmpty else {
      throw error("the first statement is \"load METHOD URL\"")
    }
    return Recording.Load(method: String(words[1]), url: String(words[2]))
  }

  private mutating func parseLoadDetail(
    _ line: String, into load: inout Recording.Load
  ) throws(RecordingError) {
    let text = rest(of: line)
    switch word(of: line) {
    case "field":
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
        throw error("a field is \"field Name: value\"")
      }
      var value = text[text.index(after: colon)...]
      if value.first == " " { value.removeFirst() }
      load.fields.append(Recording.Field(name: String(text[..<colon]), value: String(value)))
    case "body":
      guard load.body == nil else { throw error("the load has a second body") }
      load.body = try takeBytes(try parseLength(text))
    default:
      guard !text.isEmpty else { throw error("an answer is \"answer WHAT\"") }
      load.answers.append(text)
    }
  }

  private func parseConnection(_ line: String) throws(RecordingError) -> Recording.Connection {
    let form = "\"connection NUMBER SCHEME HOST:PORT\", then perhaps \" via …\""
    let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
    guard words.count >= 4, let number = parseNumber(words[1]) else { throw error("a connection is \(form)") }
    guard words[2] == "http" || words[2] == "https" else {
      throw error("the scheme of a connection is http or https, not \"\(words[2])\"")
    }
    guard let colon = words[3].lastIndex(of: ":"), colon > words[3].startIndex,
      let port = parseNumber(words[3][words[3].index(after: colon)...]), port <= 65535
    else { throw error("\"\(words[3])\" is not HOST:PORT; a connection is \(form)") }
    var host = words[3][..<colon]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    var via: String?
    if words.count == 5 {
      guard words[4].hasPrefix("via "), words[4].utf8.count > 4 else {
        throw error("a connection is \(form)")
      }
      via = String(words[4].dropFirst(4))
    }
    return Recording.Connection(
      number: number, scheme: String(words[2]), host: String(host), port: port, via: via)
  }

  private mutating func parseRecord(
    _ line: String, of recording: Recording
  ) throws(RecordingError) -> Recording.Record {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    let isServer = words[0] == "<"
    guard words.count == 4, let number = parseNumber(words[1]), words[2].first == "+",
      let microseconds = parseSeconds(words[2].dropFirst())
    else {
      throw error(
        "a record is \"> CONNECTION +SECONDS LENGTH\" or \"< CONNECTION +SECONDS LENGTH|eof|reset\"")
    }
    guard recording.connections.contains(where: { $0.number == number }) else {
      throw error("connection \(number) has no connection line before this record")
    }
    if isServer, ended.contains(number) {
      throw error("the server's side of connection \(number) has ended before this record")
    }
    let event: Recording.Event
    switch words[3] {
    case "eof" where isServer: event = .endOfFile
    case "reset" where isServer: event = .reset
    default:
      let bytes = try takeBytes(try parseLength(String(words[3])))
      event = isServer ? .received(bytes) : .sent(bytes)
    }
    if event == .endOfFile || event == .reset { ended.insert(number) }
    return Recording.Record(connection: number, microseconds: microseconds, event: event)
  }

  // MARK: Words and bytes

  private func word(of line: String) -> Substring { line.prefix { $0 != " " } }

  private func rest(of line: String) -> String {
    line.firstIndex(of: " ").map { String(line[line.index(after: $0)...]) } ?? ""
  }

  private func parseNumber(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return Int(text)
  }

  private func parseLength(_ text: String) throws(RecordingError) -> Int {
    guard let length = parseNumber(text) else { throw error("\"\(text)\" is not a length in bytes") }
    return length
  }

  /// Digits, or digits, a point and digits; what is finer than a microsecond is cut off.
  private func parseSeconds(_ text: Substring) -> Int64? {
    let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = parseNumber(halves[0]) else { return nil }
    var fraction = 0
    if halves.count == 2 {
      guard parseNumber(halves[1].prefix(6)) != nil, halves[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }) else {
        return nil
      }
      let digits = halves[1].prefix(6) + String(repeating: "0", count: max(0, 6 - halves[1].utf8.count))
      fraction = parseNumber(digits) ?? 0
    }
    let (scaled, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000)
    let (sum, carried) = scaled.addingReportingOverflow(Int64(fraction))
    return overflow || carried ? nil : sum
  }

  /// The next line that is not a comment; nil at the end of the file.
  private mutating func nextStatement() throws(RecordingError) -> String? {
    while let line = try nextLine() {
      if !line.hasPrefix("#") { return line }
    }
    return nil
  }

  private mutating func nextLine() throws(RecordingError) -> String? {
    lineStart = position
    lineNumber += 1
    guard position < input.count else { return nil }
    guard let end = input[position...].firstIndex(of: 0x0A) else {
      throw error("the last line has no line feed at its end")
    }
    position = end + 1
    if end > lineStart, input[end - 1] == 0x0D {
      throw error("the line ends in CR LF; lines of this format end in LF")
    }
    return String(decoding: input[lineStart..<end], as: UTF8.self)
  }

  /// The bytes after the current line, and over the line feed that follows them.
  private mutating func takeBytes(_ count: Int) throws(RecordingError) -> [UInt8] {
    guard count < input.count - position else {
      throw error("\(count) bytes and a line feed should follow, the file has \(input.count - position) more")
    }
    let bytes = Array(input[position..<position + count])
    guard input[position + count] == 0x0A else {
      throw error("no line feed follows the \(count) bytes: the length is wrong")
    }
    lineNumber += bytes.count(where: { $0 == 0x0A }) + 1
    position += count + 1
    return bytes
  }

  private func error(_ reason: String) -> RecordingError {
    RecordingError(line: lineNumber, offset: lineStart, reason: reason)
  }
}
