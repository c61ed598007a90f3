import Gannet

/// Answers for a server that is not there.
final class StandIn: URLProtocol, @unchecked Sendable {
  override class func canInit(with request: URLRequest) -> Bool {
    request.url?.host() == "weather.example"
  }

  override func startLoading() {
    var fields = FieldList()
    fields.append(name: "Content-Type", value: "text/plain")
    client?.urlProtocol(
      self,
      didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: 200, fields: fields))
    client?.urlProtocol(self, didLoad: Data("sunny\n".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}

URLProtocol.registerClass(StandIn.self)
do throws(ConnectionError) {
  let request = URLRequest(string: "https://weather.example/today")
  let (data, response) = try await URLConnection.data(for: request)
  print(response.statusCode, String(decoding: data, as: UTF8.self), terminator: "")
} catch {
  print("failed: \(error)")
}
