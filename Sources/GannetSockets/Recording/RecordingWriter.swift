/// Writes a `.wire` file while its load runs. The bytes of one request become one record, as a player waits for one
/// whole request per record.
package struct RecordingWriter: Sendable {
  private let keepsSecrets: Bool
  private var queue: MaskingRecordQueue
  private var scanners: [Int: RequestScanner] = [:]

  /// What can be written to the file; the caller takes it away.
  private var output: [UInt8] = []

  /// Begins a file. Each of `comments` becomes a comment line.
  package init(_ load: Recording.Load, comments: [String] = [], keepsSecrets: Bool = false) {
    self.keepsSecrets = keepsSecrets
    queue = MaskingRecordQueue(keepsSecrets: keepsSecrets)
    append(line: "gannet-wire 1")
    for comment in comments { append(line: "# " + comment) }
    append(line: "load \(load.method) " + (keepsSecrets ? load.url : SecretMask.mask(url: load.url)))
    for field in load.fields {
      let value = keepsSecrets ? field.value : SecretMask.mask(name: field.name, value: field.value)
      append(line: "field \(field.name): \(value)")
    }
    if let body = load.body {
      append(line: "body \(body.count)")
      output += body
      output.append(0x0A)
    }
    for text in load.answers { append(line: "answer " + masked(answer: text)) }
  }

  /// The whole file of a recording, nothing masked.
  package static func file(of recording: Recording, comments: [String] = []) -> [UInt8] {
    var writer = RecordingWriter(recording.load, comments: comments, keepsSecrets: true)
    for connection in recording.connections { writer.opened(connection) }
    for record in recording.records { writer.write(record) }
    return writer.takeOutput()
  }

  /// Gives what can be written to the file and forgets it.
  package mutating func takeOutput() -> [UInt8] {
    for record in queue.takeReady() { write(record) }
    defer { output.removeAll(keepingCapacity: true) }
    return output
  }

  // MARK: What happens

  /// A connection was opened; its number is new.
  package mutating func opened(_ connection: Recording.Connection) {
    let via = connection.via.map { " via " + $0 } ?? ""
    append(line: "connection \(connection.number) \(connection.scheme) \(connection.hostAndPort)" + via)
  }

  /// The client sent `bytes`.
  package mutating func sent(_ bytes: Span<UInt8>, on connection: Int, at microseconds: Int64) {
    var scanner = scanners[connection] ?? RequestScanner()
    var position = 0
    while position < bytes.count {
      if scanner.progress == .ended { scanner = RequestScanner() }
      if scanner.isIdle { queue.requestBegan(on: connection) }
      let start = position
      while position < bytes.count, scanner.progress != .ended {
        position += scanner.step(bytes.extracting(position..<bytes.count))
      }
      let piece = copy(bytes.extracting(start..<position))
      queue.appendSent(piece, on: connection, at: microseconds, endsRequest: scanner.progress == .ended)
    }
    scanners[connection] = scanner
  }

  /// The client read `bytes` in one piece.
  package mutating func received(_ bytes: Span<UInt8>, on connection: Int, at microseconds: Int64) {
    queue.appendReceived(.received(copy(bytes)), on: connection, at: microseconds)
  }

  /// The server ended its side, or reset the connection.
  package mutating func ended(byReset: Bool, on connection: Int, at microseconds: Int64) {
    queue.appendReceived(byReset ? .reset : .endOfFile, on: connection, at: microseconds)
  }

  /// The load is over: nothing more will come, what waits can be written.
  package mutating func finish() { queue.finish() }

  // MARK: Text

  private mutating func write(_ record: Recording.Record) {
    let direction = if case .sent = record.event { ">" } else { "<" }
    let start = "\(direction) \(record.connection) +\(seconds(record.microseconds)) "
    switch record.event {
    case .sent(let bytes), .received(let bytes):
      append(line: start + String(bytes.count))
      output += bytes
      output.append(0x0A)
    case .endOfFile: append(line: start + "eof")
    case .reset: append(line: start + "reset")
    }
  }

  private func masked(answer text: String) -> String {
    guard !keepsSecrets, case .credentials(let user, let password) = Recording.Answer(text) else {
      return text
    }
    let hidden = String(repeating: "*", count: password.utf8.count)
    return Recording.Answer.credentials(user: user, password: hidden).text
  }

  /// A line break inside would begin a line of the file's own.
  private mutating func append(line: String) {
    for byte in line.utf8 {
      switch byte {
      case 0x0A: output += "%0A".utf8
      case 0x0D: output += "%0D".utf8
      default: output.append(byte)
      }
    }
    output.append(0x0A)
  }

  private func seconds(_ microseconds: Int64) -> String {
    let clamped = max(0, microseconds)
    let fraction = String(clamped % 1_000_000)
    return "\(clamped / 1_000_000)." + String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
  }

  private func copy(_ span: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(span.count)
    for index in span.indices { bytes.append(span[index]) }
    return bytes
  }
}
