import FoundationEssentials
import GannetHTTP
import GannetSockets
import Synchronization

/// A form with files, as browsers send it: `multipart/form-data` (RFC 7578).
///
/// `request.setForm(form)` makes it a request's body and sets its `Content-Type`. Files and streams are read as the socket
/// takes them, never whole. Where the lengths of all parts are known, as of text, data and files, the body is sent
/// with its length, else in chunks. It is sent again as it is where it has to be, its streams as other streams are.
///
/// In names and file names a quotation mark, CR and LF are sent as `%22`, `%0D` and `%0A`, and what is not ASCII as
/// UTF-8 (the HTML standard, section "Multipart form data").
public struct MultipartForm: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    var name: String
    var filename: String?
    var contentType: String?
    var body: URLRequest.Body
  }

  /// What stands between the parts: 128 random bits, so that it is in none of them.
  public let boundary: String
  private var parts: [Part] = []

  /// Makes a form without parts.
  public init() {
    let digits = (0..<4).map { _ in
      let number = String(UInt32.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 8 - number.count) + number
    }
    self.init(boundary: "gannet-" + digits.joined())
  }

  /// Makes a form with this boundary, which the caller has made sure of.
  package init(boundary: String) { self.boundary = boundary }

  /// Adds a field; its value is sent as it is, in UTF-8.
  public mutating func append(_ value: String, named name: String) {
    append(.data(Data(value.utf8)), named: name)
  }

  /// Adds a file of the disk, which is opened when the form is sent: its errors, and what becomes of it when it changes
  /// meanwhile, are those of `URLRequest.Body.file`.
  ///
  /// - Parameters:
  ///   - path: where the file is.
  ///   - name: the name of the form's field.
  ///   - filename: the name to tell the server; nil for the path's last component.
  ///   - contentType: the file's type. What cannot stand in a header field fails the load.
  public mutating func append(
    file path: String, named name: String, filename: String? = nil,
    contentType: String = "application/octet-stream"
  ) {
    let last = path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap(String.init) ?? path
    append(.file(path), named: name, filename: filename ?? last, contentType: contentType)
  }

  /// Adds a part with any body but one with trailers, which fails the load.
  ///
  /// - Parameters:
  ///   - body: the part's content.
  ///   - name: the name of the form's field.
  ///   - filename: the name of a file; nil: the part is a field, not a file.
  ///   - contentType: the content's type; nil: none is sent, which means text.
  public mutating func append(
    _ body: URLRequest.Body, named name: String, filename: String? = nil, contentType: String? = nil
  ) {
    parts.append(Part(name: name, filename: filename, contentType: contentType, body: body))
  }

  /// The value of `Content-Type` that goes with it.
  package var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// How many bytes the body has now; nil when that is not known, or a file cannot be opened.
  package var knownLength: Int64? { (try? stream())?.length }

  /// Throws when a part's type holds what cannot be sent.
  func checkForSending() throws(RequestError) {
    try FieldList(parts.compactMap { part in part.contentType.map { (name: "Content-Type", value: $0) } })
      .checkForSending()
    for case .form(let inner) in parts.map(\.body.source) { try inner.checkForSending() }
  }

  /// The first of the parts' streams.
  var firstStream: BodyStream? {
    for part in parts {
      switch part.body.source {
      case .data, .file: continue
      case .stream(let stream): return stream
      case .form(let inner): if let stream = inner.firstStream { return stream }
      }
    }
    return nil
  }

  /// Whether a part can be sent but once, and has been begun.
  var isSpent: Bool { parts.contains { $0.body.isSpent } }
}

extension URLRequest {
  /// Makes a form this request's body, and sets its `Content-Type`, which names the form's boundary. The method is as it
  /// was set: `POST` is what servers expect.
  public mutating func setForm(_ form: MultipartForm) {
    body = Body(source: .form(form))
    setValue(form.contentType, forHTTPHeaderField: "Content-Type")
  }
}

// MARK: Sending

extension MultipartForm {
  /// A stretch of the body.
  fileprivate enum Segment: Sendable {
    case bytes(Data)
    case file(path: String, count: Int64)
    case stream(BodyStream)

    /// Nil when it is not known.
    var count: Int64? {
      switch self {
      case .bytes(let data): Int64(data.count)
      case .file(_, let count): count
      case .stream(let stream): stream.length
      }
    }
  }

  /// The body as it is now: its files are looked at, and read later.
  func stream() throws(RequestBodyError) -> BodyStream {
    var segments: [Segment] = []
    for part in parts {
      MultipartForm.append(.bytes(head(of: part)), to: &segments)
      MultipartForm.append(try MultipartForm.segment(of: part.body), to: &segments)
      MultipartForm.append(.bytes(Data("\r\n".utf8)), to: &segments)
    }
    MultipartForm.append(.bytes(Data("--\(boundary)--\r\n".utf8)), to: &segments)
    var length: Int64? = 0
    for segment in segments {
      guard let sum = length, let count = segment.count else {
        length = nil
        break
      }
      let (next, isTooLarge) = sum.addingReportingOverflow(count)
      length = isTooLarge ? nil : next
    }
    let whole = segments
    return BodyStream(length: length) { take in
      for segment in whole { guard try await segment.feed(take) else { return } }
    }
  }

  /// Adds a segment, joined to the last where both are short: each is sent by itself, and a form of many short fields is
  /// not to be many packets.
  private static func append(_ segment: Segment, to segments: inout [Segment]) {
    guard case .bytes(let data) = segment, case .bytes(var joined)? = segments.last,
      joined.count + data.count <= pieceBytes
    else {
      segments.append(segment)
      return
    }
    // The array lets go of it first, or each joint would copy all that came before.
    segments.removeLast()
    joined.append(data)
    segments.append(.bytes(joined))
  }

  private static func segment(of body: URLRequest.Body) throws(RequestBodyError) -> Segment {
    switch body.source {
    case .data(let data): return .bytes(data)
    case .file(let path):
      do throws(SystemError) { return .file(path: path, count: try RegularFile(path: path).byteCount) } catch
      {
        throw .unopened(path, error)
      }
    case .stream(let stream):
      if stream.hasTrailers { throw .trailersInPart }
      return .stream(stream)
    case .form(let inner): return .stream(try inner.stream())
    }
  }

  private func head(of part: Part) -> Data {
    var text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(MultipartForm.escaped(part.name))\""
    if let filename = part.filename { text += "; filename=\"\(MultipartForm.escaped(filename))\"" }
    text += "\r\n"
    if let contentType = part.contentType { text += "Content-Type: \(contentType)\r\n" }
    return Data((text + "\r\n").utf8)
  }

  private static func escaped(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": text += "%22"
      case "\r": text += "%0D"
      case "\n": text += "%0A"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension MultipartForm.Segment {
  /// Gives its bytes, exactly as many as were announced; false when no more are wanted.
  fileprivate func feed(_ take: BodyStream.Taker) async throws -> Bool {
    switch self {
    case .bytes(let data): return await take(data)
    case .file(let path, let count): return try await MultipartForm.feedFile(path, count, take)
    case .stream(let stream): return try await MultipartForm.feed(stream, take)
    }
  }
}

extension MultipartForm {
  /// What is read of a file at once.
  private static let pieceBytes = 64 * 1024

  fileprivate static func feedFile(
    _ path: String, _ count: Int64, _ take: BodyStream.Taker
  ) async throws -> Bool {
    let file: RegularFile
    do throws(SystemError) { file = try RegularFile(path: path) } catch {
      throw RequestBodyError.unopened(path, error)
    }
    var missing = count
    while missing > 0 {
      var piece: [UInt8] = []
      do throws(SystemError) {
        _ = try file.read(Int(min(Int64(pieceBytes), missing)), appendingTo: &piece)
      } catch { throw RequestBodyError.unreadable(error) }
      guard !piece.isEmpty else { throw RequestBodyError.tooShort(missing: missing) }
      missing -= Int64(piece.count)
      guard await take(Data(piece)) else { return false }
    }
    return true
  }

  fileprivate static func feed(_ stream: BodyStream, _ take: BodyStream.Taker) async throws -> Bool {
    let given = Atomic<Int64>(0)
    let isWanted = Atomic<Bool>(true)
    try await stream.feed { piece in
      let sum = given.add(Int64(piece.count), ordering: .relaxed).newValue
      if let length = stream.length, sum > length { return false }
      let goesOn = await take(piece)
      isWanted.store(goesOn, ordering: .relaxed)
      return goesOn
    }
    guard isWanted.load(ordering: .relaxed) else { return false }
    let sum = given.load(ordering: .relaxed)
    guard let length = stream.length, sum != length else { return true }
    throw sum > length
      ? RequestBodyError.tooLong(announced: length) : RequestBodyError.tooShort(missing: length - sum)
  }
}
