import FoundationEssentials
import GannetHTTP
import GannetPolicy

/// Decides what a request's head holds: `Host`, the caller's fields in order, then what is missing.
struct RequestComposer: Sendable {
  /// The head, ready to be sent.
  let head: [UInt8]
  /// Whether the response's content coding is undone: when we, not the caller, said which codings are welcome.
  let decodes: Bool
  /// Whether the caller asked for the connection to be closed.
  let closes: Bool

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

  /// Throws `badURL`, before anything is written, when a part of the request cannot be sent.
  init(_ request: URLRequest, url: HTTPURL, authorization: String?) throws(ConnectionError) {
    let fields = request.fields
    var given = Given()
    var writer: RequestHeadWriter
    do throws(RequestError) {
      try fields.checkForSending()
      writer = try RequestHeadWriter(
        method: request.method, target: url.requestTarget,
        reserving: 256 + fields.byteCount + 4 * fields.count)
      writer.appendHost(fields, url)
    } catch {
      throw ConnectionError(error, url: url.withoutUserInfo.text)
    }
    if !request.omittedFields.isEmpty {
      given.agent = request.omittedFields.contains("user-agent")
      given.accept = request.omittedFields.contains("accept")
      given.coding = request.omittedFields.contains("accept-encoding")
    }
    var closes = false
    for index in fields.indices {
      if RequestComposer.isOurs(fields, index, authorization) { continue }
      if fields.isNamed("User-Agent", at: index) { given.agent = true }
      if fields.isNamed("Accept", at: index) { given.accept = true }
      if fields.isNamed("Accept-Encoding", at: index) { given.coding = true }
      if fields.isNamed("Range", at: index) { given.range = true }
      if fields.isNamed("Connection", at: index) { closes = closes || fields[index].value.namesClose }
      writer.append(fields, at: index)
    }
    RequestComposer.complete(&writer, given)
    if let authorization { writer.append(name: "Authorization", value: authorization) }
    if let length = request.httpBody?.count ?? RequestComposer.emptyLength(of: request.method) {
      writer.append(name: "Content-Length", value: String(length))
    }
    self.head = writer.finish()
    self.decodes = !given.coding && !given.range
    self.closes = closes
  }

  /// Whether a field of the caller's is set here instead: from the URL, the body, and the answer to a challenge.
  private static func isOurs(_ fields: FieldList, _ index: Int, _ authorization: String?) -> Bool {
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

  /// A method that has a body says so when there is none (RFC 9110 section 8.6).
  private static func emptyLength(of method: String) -> Int? {
    switch method {
    case "POST", "PUT", "PATCH": 0
    default: nil
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
  /// Whether this value of `Connection` names `close` among its options.
  fileprivate var namesClose: Bool {
    split(separator: ",").contains { $0.filter { $0 != " " && $0 != "\t" }.lowercased() == "close" }
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
    self.init(method: request.method, url: url, fields: request.fields, hasBody: request.httpBody != nil)
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
