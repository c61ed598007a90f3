package import Gannet
package import GannetHTTP
package import GannetTLS

/// Tells each callback of a load as a line of JSON (docs/INTERFACES.md).
package final class EventLog {
  private let tag: String?
  private let includesBodies: Bool
  private let mergesData: Bool
  private let write: (String) -> Void
  private let hash: MessageDigest

  /// Bytes since the last response.
  private var total: Int64 = 0
  /// The digest of those, once it has been asked for; more bytes begin another.
  private var digest: String?
  private var part: Int?
  /// Data that was told of and may still be joined by more.
  private var pending: [UInt8] = []
  private var pendingCount = 0

  /// Begins a log.
  ///
  /// - Parameters:
  ///   - tag: goes into each line, when several loads share an output.
  ///   - includesBodies: each `didReceiveData` has the data itself.
  ///   - mergesData: data that follows data is one line.
  ///   - write: takes each line, without a line feed.
  /// - Throws: when OpenSSL cannot digest.
  package init(
    tag: String? = nil, includesBodies: Bool = false, mergesData: Bool = false,
    write: @escaping (String) -> Void
  ) throws(TLSError) {
    self.tag = tag
    self.includesBodies = includesBodies
    self.mergesData = mergesData
    self.write = write
    hash = try MessageDigest(.sha256)
  }

  package func willSend(_ request: URLRequest, redirectResponse: URLResponse?) {
    var line = JSONLine(event: "willSendRequest")
    line.add("method", request.httpMethod)
    line.add("url", EventLog.withoutUserInfo(request.urlString))
    if let response = redirectResponse {
      line.add("redirect") { inner in
        inner.add("status", (response as? HTTPURLResponse)?.statusCode)
        inner.add("url", response.urlString)
      }
    } else {
      line.add("redirect", object: nil)
    }
    emit(line)
  }

  package func didReceive(_ challenge: URLAuthenticationChallenge) {
    let space = challenge.protectionSpace
    var line = JSONLine(event: "didReceiveChallenge")
    line.add("method", EventLog.name(of: space.authenticationMethod))
    line.add("realm", space.realm)
    line.add("host", space.host)
    line.add("port", space.port)
    line.add("proxy", space.isProxy)
    line.add("previousFailureCount", challenge.previousFailureCount)
    emit(line)
  }

  package func didCancel(_ challenge: URLAuthenticationChallenge) {
    var line = JSONLine(event: "didCancelChallenge")
    line.add("method", EventLog.name(of: challenge.protectionSpace.authenticationMethod))
    emit(line)
  }

  package func needNewBodyStream() { emit(JSONLine(event: "needNewBodyStream")) }

  package func didSendBodyData(_ bytes: Int, total: Int, expected: Int) {
    var line = JSONLine(event: "didSendBodyData")
    line.add("bytes", bytes)
    line.add("total", total)
    line.add("expected", expected)
    emit(line)
  }

  package func didReceiveInformational(_ response: HTTPURLResponse) {
    var line = JSONLine(event: "didReceiveInformational")
    line.add("status", response.statusCode)
    line.add("fields", response.fields)
    emit(line)
  }

  package func didReceive(_ response: URLResponse) {
    let http = response as? HTTPURLResponse
    var line = JSONLine(event: "didReceiveResponse")
    line.add("url", response.urlString)
    line.add("status", http?.statusCode)
    line.add("mimeType", response.mimeType)
    line.add("textEncoding", response.textEncodingName)
    line.add("expectedLength", response.expectedContentLength)
    line.add("suggestedFilename", response.suggestedFilename)
    line.add("fields", http?.fields ?? FieldList())
    line.add("part", http?.partIndex)
    line.add("fromCache", response.isFromCache)
    emit(line)
    total = 0
    if digest == nil { _ = finishDigest() }
    digest = nil
    part = http?.partIndex
  }

  package func didReceive(_ data: Data) {
    guard !data.isEmpty else { return }
    total += Int64(data.count)
    if digest != nil { digest = nil }
    do throws(TLSError) { try hash.update(data.span) } catch { return fail(error) }
    pendingCount += data.count
    if includesBodies { pending.append(contentsOf: data) }
    if !mergesData { flush() }
  }

  package func didFinishPart() {
    var line = JSONLine(event: "didFinishPart")
    line.add("part", part)
    addTotal(to: &line)
    emit(line)
  }

  package func didReceiveTrailers(_ trailers: FieldList) {
    var line = JSONLine(event: "didReceiveTrailers")
    line.add("fields", trailers)
    emit(line)
  }

  package func willCache(_ response: CachedURLResponse) {
    var line = JSONLine(event: "willCacheResponse")
    line.add("length", response.data.count)
    emit(line)
  }

  package func didFinishLoading() {
    var line = JSONLine(event: "didFinishLoading")
    addTotal(to: &line)
    emit(line)
  }

  package func didFail(_ error: ConnectionError) {
    var line = JSONLine(event: "didFail")
    line.add("code", error.code.rawValue)
    line.add("name", error.code.name)
    line.add("phase", error.phase.rawValue)
    line.add("url", error.url)
    switch error.cause {
    case .syntax(let rule, _, let offset):
      line.add("rule", rule)
      line.add("offset", offset)
    case .limit(let name):
      line.add("rule", name)
      line.add("offset", nil as Int?)
    case .system, .tls, .body, nil:
      line.add("rule", nil as String?)
      line.add("offset", nil as Int?)
    }
    line.add("reason", error.reason)
    emit(line)
  }

  // MARK: Lines

  private func emit(_ line: JSONLine) {
    flush()
    put(line)
  }

  private func put(_ line: JSONLine) {
    var line = line
    if let tag { line.add("tag", tag) }
    write(line.text)
  }

  private func flush() {
    guard pendingCount > 0 else { return }
    var line = JSONLine(event: "didReceiveData")
    line.add("length", pendingCount)
    line.add("total", total)
    if includesBodies { line.add("base64", Data(pending).base64EncodedString()) }
    pending.removeAll(keepingCapacity: true)
    pendingCount = 0
    put(line)
  }

  private func addTotal(to line: inout JSONLine) {
    line.add("total", total)
    line.add("sha256", finishDigest())
  }

  /// The digest of what came since the last response, in hexadecimal.
  private func finishDigest() -> String? {
    if let digest { return digest }
    do throws(TLSError) {
      let bytes = try hash.finish()
      digest = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    } catch { fail(error) }
    return digest
  }

  private func fail(_ error: TLSError) { OutputFile.complain("gannet: \(error)") }

  /// `NSURLAuthenticationMethodHTTPBasic` is `basic`, `NSURLAuthenticationMethodServerTrust` is `serverTrust`.
  private static func name(of method: URLProtectionSpace.AuthenticationMethod) -> String {
    var name = method.rawValue[...]
    for prefix in ["NSURLAuthenticationMethod", "HTTP"] where name.hasPrefix(prefix) {
      name = name.dropFirst(prefix.count)
    }
    return name.prefix(1).lowercased() + name.dropFirst()
  }

  private static func withoutUserInfo(_ url: String) -> String {
    (try? HTTPURL(url, encodingHostsWith: .shared))?.withoutUserInfo.text ?? url
  }
}
