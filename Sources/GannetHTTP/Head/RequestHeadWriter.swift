/// Writes the head of a request piece by piece (RFC 9112 section 3), for a caller that decides field by field.
///
/// `RequestHead` writes a whole one with the same checks.
package struct RequestHeadWriter: Sendable {
  /// What has been written.
  package private(set) var bytes: [UInt8] = []

  /// Begins with the request line.
  ///
  /// - Throws: a method that is not a token, a target with a byte that is not a visible ASCII character.
  package init(
    method: String, target: String, minorVersion: UInt8 = 1, reserving capacity: Int
  ) throws(RequestError) {
    try RequestError.check(method, .method) { $0.isToken }
    try RequestError.check(target, .target) { $0 > 0x20 && $0 < 0x7F }
    bytes.reserveCapacity(capacity)
    bytes.append(contentsOf: method.utf8)
    bytes.append(.space)
    bytes.append(contentsOf: target.utf8)
    bytes.append(contentsOf: (minorVersion == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n").utf8)
  }

  /// Adds a field whose name and value are ours, or have been checked.
  package mutating func append(name: String, value: String) { append(name: name, bytes: value.utf8) }

  /// Adds a field whose name and value are ours, or have been checked.
  package mutating func append(name: String, bytes value: some Collection<UInt8>) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(.colon)
    bytes.append(.space)
    bytes.append(contentsOf: value)
    bytes.append(.carriageReturn)
    bytes.append(.lineFeed)
  }

  /// Adds a field of a list that has passed `checkForSending()`.
  package mutating func append(_ fields: FieldList, at index: Int) {
    fields.withNameBytes(at: index) { bytes.append(copying: $0) }
    bytes.append(.colon)
    bytes.append(.space)
    fields.withValueBytes(at: index) { bytes.append(copying: $0) }
    bytes.append(.carriageReturn)
    bytes.append(.lineFeed)
  }

  /// Adds whole lines that were prepared before.
  package mutating func append(lines: [UInt8]) { bytes += lines }

  /// Ends the head with its empty line, and gives what was written.
  package consuming func finish() -> [UInt8] {
    bytes.append(.carriageReturn)
    bytes.append(.lineFeed)
    return bytes
  }
}
