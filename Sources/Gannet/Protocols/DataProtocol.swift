import FoundationEssentials
import GannetHTTP

// UNCHECKED: restated because its superclass is; it has nothing of its own.
/// Answers for `data` URLs (RFC 2397), with what they hold.
final class DataProtocol: URLProtocol, @unchecked Sendable {
  override func startLoading() {
    let address: HTTPURL
    switch request.parsedAddress {
    case .success(let parsed): address = parsed
    case .failure: return super.startLoading()
    }
    do throws(DataURLError) {
      let data = try DataURL(address)
      client?.urlProtocol(
        self,
        didReceive: URLResponse(
          urlString: request.urlString, mimeType: data.mediaType.essence,
          expectedContentLength: Int64(data.bytes.count), textEncodingName: data.mediaType.charset))
      if request.method != "HEAD" { client?.urlProtocol(self, didLoad: Data(data.bytes)) }
      client?.urlProtocolDidFinishLoading(self)
    } catch {
      client?.urlProtocol(
        self,
        didFailWithError: ConnectionError(
          .badURL, phase: .preparing, url: request.safeURLString,
          cause: .syntax(rule: error.rule.rawValue, byte: error.byte, offset: Int64(error.offset)),
          reason: error.reason))
    }
  }
}
