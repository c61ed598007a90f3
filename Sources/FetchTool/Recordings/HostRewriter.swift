package import GannetHTTP
package import GannetSockets

/// Puts other hosts and ports in the place of the recorded ones, where a client would follow them: in `Location`
/// fields and in the fields of parts. Content-Length and chunk sizes are set right.
package struct HostRewriter: Sendable {
  /// A recorded origin, and what stands in its place.
  package struct Rule: Hashable, Sendable {
    /// The recorded scheme, host and port.
    package let origin: Origin
    /// `scheme://host:port`.
    package let replacement: String

    /// Makes a rule.
    package init(origin: Origin, replacement: String) {
      self.origin = origin
      self.replacement = replacement
    }
  }

  /// A stretch of the stream, and the bytes that take its place.
  private struct Edit {
    let range: Range<Int>
    let bytes: [UInt8]
    var growth: Int { bytes.count - range.count }
  }

  private let rules: [Rule]

  /// Makes a rewriter.
  package init(_ rules: [Rule]) { self.rules = rules }

  /// The URL with another host and port, when they are recorded ones.
  package func rewrite(url: String) -> String {
    let bytes = Array(url.utf8)
    var result: [UInt8] = []
    var position = 0
    for edit in edits(in: bytes, bytes.indices) {
      result += bytes[position..<edit.range.lowerBound] + edit.bytes
      position = edit.range.upperBound
    }
    return String(decoding: result + bytes[position...], as: UTF8.self)
  }

  /// The recording with what the server sent rewritten, segment for segment.
  package func rewrite(_ recording: Recording) -> Recording {
    var copy = recording
    for connection in recording.connections {
      let stream = ServerStream(recording, connection: connection.number)
      let edits = stream.responses.flatMap { self.edits(in: $0, of: stream) }
        .sorted { $0.range.lowerBound < $1.range.lowerBound }
      if !edits.isEmpty { apply(edits, to: &copy, connection: connection.number) }
    }
    return copy
  }

  // MARK: Where

  private func edits(in response: ServerStream.Response, of stream: ServerStream) -> [Edit] {
    let bytes = stream.bytes
    let inBody = partFieldEdits(in: response, of: stream)
    var result = inBody
    let growth = inBody.reduce(0) { $0 + $1.growth }
    var lineStart = response.headRange.lowerBound
    while lineStart < response.headRange.upperBound,
      let lineEnd = bytes[lineStart..<response.headRange.upperBound].firstIndex(of: 0x0A)
    {
      let line = lineStart..<lineEnd
      lineStart = lineEnd + 1
      guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")) else { continue }
      switch String(decoding: bytes[line.lowerBound..<colon], as: UTF8.self).lowercased() {
      case "location": result += edits(in: bytes, (colon + 1)..<lineEnd)
      case "content-length" where growth != 0: result += resize(bytes, (colon + 1)..<lineEnd, by: growth)
      default: break
      }
    }
    for piece in response.body {
      guard let digits = piece.sizeDigits else { continue }
      let inPiece = inBody.filter { piece.data.contains($0.range.lowerBound) }.reduce(0) { $0 + $1.growth }
      guard inPiece != 0 else { continue }
      result.append(Edit(range: digits, bytes: Array(String(piece.data.count + inPiece, radix: 16).utf8)))
    }
    return result
  }

  private func resize(_ bytes: [UInt8], _ value: Range<Int>, by growth: Int) -> [Edit] {
    guard let first = bytes[value].firstIndex(where: { $0 &- 0x30 < 10 }) else { return [] }
    let digits =
      first..<(bytes[first..<value.upperBound].firstIndex { !($0 &- 0x30 < 10) } ?? value.upperBound)
    guard let length = Int(String(decoding: bytes[digits], as: UTF8.self)) else { return [] }
    return [Edit(range: digits, bytes: Array(String(length + growth).utf8))]
  }

  /// Edits in the stretches of a multipart body that are not data: delimiters and the fields of parts.
  private func partFieldEdits(in response: ServerStream.Response, of stream: ServerStream) -> [Edit] {
    let stretches = stream.layout(of: response).betweenParts
    guard !stretches.isEmpty else { return [] }
    let body = response.body.flatMap { stream.bytes[$0.data] }
    return stretches.flatMap { edits(in: body, $0) }.flatMap { spread($0, response.body) }
  }

  /// An edit of the body as edits of the stream: what lies in further pieces is taken out there.
  private func spread(_ edit: Edit, _ pieces: [ServerStream.Piece]) -> [Edit] {
    ServerStream.places(of: edit.range, in: pieces).enumerated().map { index, place in
      Edit(range: place, bytes: index == 0 ? edit.bytes : [])
    }
  }

  // MARK: What

  /// Finds `//authority`, with its scheme before it where there is one, and gives the edits of those that are ruled.
  private func edits(in bytes: [UInt8], _ region: Range<Int>) -> [Edit] {
    var result: [Edit] = []
    var index = region.lowerBound
    while index + 1 < region.upperBound {
      guard bytes[index] == UInt8(ascii: "/"), bytes[index + 1] == UInt8(ascii: "/") else {
        index += 1
        continue
      }
      let start = index + 2
      let end = bytes[start..<region.upperBound].firstIndex { Self.endsAuthority($0) } ?? region.upperBound
      let scheme = scheme(before: index, in: bytes[region])
      if let edit = edit(bytes[start..<end], slashes: index, scheme: scheme) { result.append(edit) }
      index = end
    }
    return result
  }

  private func scheme(before slashes: Int, in bytes: ArraySlice<UInt8>) -> String? {
    for scheme in ["https", "http"] {
      let start = slashes - scheme.utf8.count - 1
      guard start >= bytes.startIndex else { continue }
      if String(decoding: bytes[start..<slashes], as: UTF8.self).lowercased() == scheme + ":" {
        return scheme
      }
    }
    return nil
  }

  private func edit(_ authority: ArraySlice<UInt8>, slashes: Int, scheme: String?) -> Edit? {
    let text = String(decoding: authority, as: UTF8.self)
    for rule in rules where scheme == nil || scheme == rule.origin.scheme {
      guard let url = try? HTTPURL("\(rule.origin.scheme)://\(text)/"), url.origin == rule.origin else {
        continue
      }
      let start = slashes - (scheme.map { $0.utf8.count + 1 } ?? 0)
      var replacement = Array(rule.replacement.utf8)
      if scheme == nil, let own = replacement.firstIndex(of: UInt8(ascii: "/")) {
        replacement.removeFirst(own)
      }
      return Edit(range: start..<authority.endIndex, bytes: replacement)
    }
    return nil
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte <= 0x20 || "/?#\"'<>;,\\".utf8.contains(byte)
  }

  // MARK: Applying

  /// Rewrites the segments of a connection; what takes an edit's place goes to the segment in which it began.
  private func apply(_ edits: [Edit], to recording: inout Recording, connection: Int) {
    var rest = edits[...]
    var segmentStart = 0
    for index in recording.records.indices where recording.records[index].connection == connection {
      guard case .received(let segment) = recording.records[index].event else { continue }
      let segmentEnd = segmentStart + segment.count
      var result: [UInt8] = []
      var position = segmentStart
      while let edit = rest.first, edit.range.lowerBound < segmentEnd {
        let from = max(position, edit.range.lowerBound)
        if position < from { result += segment[(position - segmentStart)..<(from - segmentStart)] }
        if edit.range.lowerBound >= segmentStart { result += edit.bytes }
        position = min(segmentEnd, edit.range.upperBound)
        if edit.range.upperBound > segmentEnd { break }
        rest.removeFirst()
      }
      result += segment[(position - segmentStart)...]
      recording.records[index].event = .received(result)
      segmentStart = segmentEnd
    }
  }
}
