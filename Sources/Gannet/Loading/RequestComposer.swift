import FoundationEssentials
import GannetHTTP
import GannetPolicy

/// Writes a request's head: `Host`, the caller's fields in order, then what is missing.
struct RequestComposer {
  private let head: RequestHead
  private let url: HTTPURL
  /// Whether the response's content coding is undone: when we, not the caller, said which codings are welcome.
  let decodes: Bool
  /// Whether the caller asked for the connection to be closed.
  let closes: Bool

  static let userAgent = "Gannet/\(GannetVersion.current)"

  init(_ request: URLRequest, url: HTTPURL, authorization: String?) {
    var fields = FieldList()
    var isSet = (host: false, agent: false, accept: false, coding: false, range: false, closes: false)
    isSet.agent = request.omittedFields.contains("user-agent")
    isSet.accept = request.omittedFields.contains("accept")
    isSet.coding = request.omittedFields.contains("accept-encoding")
    fields.append(name: "Host", value: request.fields["Host"] ?? url.hostField)
    for index in request.fields.indices {
      if request.fields.isNamed("Host", at: index) || request.fields.isNamed("Content-Length", at: index)
        || request.fields.isNamed("Transfer-Encoding", at: index)
      {
        continue  // set here, from the URL and the body
      }
      if authorization != nil, request.fields.isNamed("Authorization", at: index) { continue }
      if request.fields.isNamed("User-Agent", at: index) { isSet.agent = true }
      if request.fields.isNamed("Accept", at: index) { isSet.accept = true }
      if request.fields.isNamed("Accept-Encoding", at: index) { isSet.coding = true }
      if request.fields.isNamed("Range", at: index) { isSet.range = true }
      if request.fields.isNamed("Connection", at: index) {
        isSet.closes = isSet.closes || request.fields[index].value.lowercased().contains("close")
      }
      request.fields.withNameBytes(at: index) { name in
        request.fields.withValueBytes(at: index) { value in fields.append(name: name, value: value) }
      }
    }
    if !isSet.agent { fields.append(name: "User-Agent", value: RequestComposer.userAgent) }
    if !isSet.accept { fields.append(name: "Accept", value: "*/*") }
    if !isSet.coding {
      // A range of a coded body cannot be decoded.
      fields.append(name: "Accept-Encoding", value: isSet.range ? "identity" : "gzip, deflate")
    }
    if let authorization { fields.append(name: "Authorization", value: authorization) }
    if let length = request.httpBody?.count ?? RequestComposer.emptyLength(of: request.method) {
      fields.append(name: "Content-Length", value: String(length))
    }
    self.head = RequestHead(method: request.method, target: url.requestTarget, fields: fields)
    self.url = url
    self.decodes = !isSet.coding && !isSet.range
    self.closes = isSet.closes
  }

  /// A method that has a body says so when there is none (RFC 9110 section 8.6).
  private static func emptyLength(of method: String) -> Int? {
    switch method {
    case "POST", "PUT", "PATCH": 0
    default: nil
    }
  }

  /// Appends the head, or throws `badURL` with nothing written when a part of it cannot be sent.
  func append(to bytes: inout [UInt8]) throws(ConnectionError) {
    do throws(RequestError) { try head.append(to: &bytes) } catch {
      throw ConnectionError(
        .badURL, phase: .preparing, url: url.withoutUserInfo.text,
        cause: .syntax(rule: error.part.rawValue, byte: error.byte, offset: Int64(error.offset)),
        reason: error.reason)
    }
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
