import FoundationEssentials
import GannetHTTP
import GannetPolicy

/// Decides what a request's head holds: `Host`, the caller's fields in order, then what is missing.
struct RequestComposer: Sendable {
  /// The head, ready to be sent.
  let head: [UInt8]
  /// Whether the response's content coding is undone: when we, not the caller, said which codings are welcome.
  let decodes: Bool
  /// Whether no other request is to follow on the connection: the caller asked for that, or HTTP/1.0 has none.
  let closes: Bool
  /// Whether the server is asked for a 100; never for a body that is known to be empty (RFC 9110 section 10.1.1).
  let awaitsContinue: Bool
  /// Whether the caller asked for another protocol.
  let mayUpgrade: Bool

  static let userAgent = "Gannet/\(GannetVersion.current)"
  /// What is added to a request whose caller set none of it.
  private static let ordinaryLines = Array(
    "User-Agent: \(userAgent)\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n".utf8)

  /// What the caller has seen to itself.
  private struct Given {
    var agent = false
    var accept = false
    var coding = false
    var range = false
  }

  /// How the body that follows is framed.
  enum BodyFrame: Hashable {
    case none
    case length(Int64)
    /// In chunks; these fields come after the last one.
    case chunked(trailers: FieldList)
  }

  /// Throws `badURL`, before anything is written, when a part of the request cannot be sent. `expects`: the server is
  /// asked for a 100 when the caller wants that.
  init(
    _ request: URLRequest, url: HTTPURL, authorization: [UInt8]?, body: BodyFrame, expects: Bool
  ) throws(ConnectionError) {
    let fields = request.fields
    let isOld = request.httpVersion == .http10
    let asks = expects && body != .none && body != .length(0)
    var given = Given()
    var writer: RequestHeadWriter
    do throws(RequestError) {
      try fields.checkForSending()
      if case .chunked(let trailers) = body { try trailers.checkAsTrailers() }
      writer = try RequestHeadWriter(
        method: request.method, target: RequestComposer.target(of: request, url),
        minorVersion: isOld ? 0 : 1, reserving: 256 + fields.byteCount + 4 * fields.count)
      writer.appendHost(fields, url)
    } catch {
      throw ConnectionError(error, url: url.withoutUserInfo.text)
    }
    if !request.omittedFields.isEmpty {
      given.agent = request.omittedFields.contains("user-agent")
      given.accept = request.omittedFields.contains("accept")
      given.coding = request.omittedFields.contains("accept-encoding")
    }
    if isOld, case .chunked = body { throw ConnectionError(chunksInHTTP10: url.withoutUserInfo.text) }
    var closes = isOld
    var mayUpgrade = false
    for index in fields.indices {
      if RequestComposer.isOurs(fields, index, authorization) { continue }
      if !asks, fields.isNamed("Expect", at: index), fields[index].value.names("100-continue") { continue }
      if fields.isNamed("User-Agent", at: index) { given.agent = true }
      if fields.isNamed("Accept", at: index) { given.accept = true }
      if fields.isNamed("Accept-Encoding", at: index) { given.coding = true }
      if fields.isNamed("Range", at: index) { given.range = true }
      if fields.isNamed("Connection", at: index) { closes = closes || fields[index].value.names("close") }
      if fields.isNamed("Upgrade", at: index) { mayUpgrade = true }
      writer.append(fields, at: index)
    }
    RequestComposer.complete(&writer, given)
    if let authorization { writer.append(name: "Authorization", bytes: authorization) }
    RequestComposer.frame(body, request, &writer)
    self.head = writer.finish()
    self.decodes = !given.coding && !given.range
    self.closes = closes
    self.awaitsContinue = asks
    self.mayUpgrade = mayUpgrade
  }

  /// What the request line names.
  static func target(of request: URLRequest, _ url: HTTPURL) -> String {
    url.target(in: request.method == "CONNECT" ? .authority : .origin)
  }

  /// Whether a field of the caller's is set here instead: from the URL, the body, and the answer to a challenge.
  private static func isOurs(_ fields: FieldList, _ index: Int, _ authorization: [UInt8]?) -> Bool {
    fields.isNamed("Host", at: index) || fields.isNamed("Content-Length", at: index)
      || fields.isNamed("Transfer-Encoding", at: index)
      || (authorization != nil && fields.isNamed("Authorization", at: index))
  }

  /// Adds what the caller has not given.
  private static func complete(_ writer: inout RequestHeadWriter, _ given: Given) {
    if !given.agent, !given.accept, !given.coding, !given.range { return writer.append(lines: ordinaryLines) }
    if !given.agent { writer.append(name: "User-Agent", value: userAgent) }
    if !given.accept { writer.append(name: "Accept", value: "*/*") }
    // A range of a coded body cannot be decoded.
    if !given.coding {
      writer.append(name: "Accept-Encoding", value: given.range ? "identity" : "gzip, deflate")
    }
  }

  /// Says how the body ends. A method that has a body says so when there is none (RFC 9110 section 8.6).
  private static func frame(_ body: BodyFrame, _ request: URLRequest, _ writer: inout RequestHeadWriter) {
    switch body {
    case .none:
      if ["POST", "PUT", "PATCH"].contains(request.method) {
        writer.append(name: "Content-Length", value: "0")
      }
    case .length(let length): writer.append(name: "Content-Length", value: String(length))
    case .chunked(let trailers):
      writer.append(name: "Transfer-Encoding", value: "chunked")
      guard !trailers.isEmpty, !request.fields.contains("Trailer") else { return }
      writer.append(name: "Trailer", value: trailers.map(\.name).joined(separator: ", "))
    }
  }
}

extension RequestHeadWriter {
  /// Adds `Host`: the caller's, or that of the URL.
  fileprivate mutating func appendHost(_ fields: FieldList, _ url: HTTPURL) {
    if let index = fields.firstIndex(named: "Host") {
      append(fields, at: index)
    } else {
      append(name: "Host", value: url.hostField)
    }
  }
}

extension String {
  /// Whether this list names `token` (in lower case).
  fileprivate func names(_ token: String) -> Bool {
    split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == token }
  }
}

/// The version of this package.
package enum GannetVersion {
  /// As in the changelog.
  package static let current = "0.1.0"
}

extension LoadMachine.Request {
  /// What the machine has to know of a request with this URL.
  init(_ request: URLRequest, url: HTTPURL) {
    let body = request.body.map { LoadMachine.Body($0) } ?? .none
    self.init(
      method: request.method, url: url, fields: request.fields, body: body,
      expectsContinue: body != .none && request.httpVersion == .http11
        && request.fields.hasToken("100-continue", in: "Expect"),
      cachePolicy: request.cachePolicy.rule)
  }
}

extension LoadMachine.Body {
  /// What the machine has to know of a body.
  init(_ body: URLRequest.Body) {
    self =
      switch body.source {
      case .data(let data): data.isEmpty ? .none : .data
      case .file: .kept
      // A body that is asked about lives as long as the request that holds it, so its place is a name.
      case .stream(let stream): .stream(UInt(bitPattern: ObjectIdentifier(stream)))
      case .form(let form):
        form.firstStream.map { .stream(UInt(bitPattern: ObjectIdentifier($0))) } ?? .kept
      }
  }
}

extension URLRequest {
  /// The inactivity limit; nil for none.
  var inactivityLimit: Duration? {
    guard timeoutInterval.isFinite, timeoutInterval > 0 else { return nil }
    // A century and a half is no limit either, and does not overflow.
    return .seconds(min(timeoutInterval, 5e9))
  }
}
