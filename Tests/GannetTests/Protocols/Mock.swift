import Gannet
import GannetSockets
import TestSupport
import Testing

/// A protocol class of a test: answers every request of the host `mock.test` and of the scheme `mock` with a script that
/// is found by the path.
class Mock: URLProtocol, @unchecked Sendable {
  /// What it does for a path: given itself and its client.
  typealias Script = @Sendable (Mock, any URLProtocolClient) -> Void

  private static let scripts = Guarded<[String: Script]>([:])
  private static let notes = Guarded<[String: [String]]>([:])

  /// Has a path answered like this; paths are the tests' own.
  static func answer(_ path: String, _ script: @escaping Script) { scripts.withLock { $0[path] = script } }
  /// What was called for a path, in order.
  static func calls(_ path: String) -> [String] { notes.withLock { $0[path] ?? [] } }

  /// A configuration whose loads ask this class.
  static var configuration: URLConnection.Configuration {
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Mock.self]
    return configuration
  }

  /// The path of a request for the mock; nil for any other.
  private static func path(of request: URLRequest) -> String? {
    for prefix in ["http://mock.test", "mock://"] where request.urlString.hasPrefix(prefix) {
      return String(request.urlString.dropFirst(prefix.count))
    }
    return nil
  }

  var path: String { Mock.path(of: request) ?? "" }
  func note(_ call: String) { Mock.notes.withLock { [path] in $0[path, default: []].append(call) } }

  override class func canInit(with request: URLRequest) -> Bool {
    path(of: request) != nil && property(forKey: "passed", in: request) == nil
  }

  override func startLoading() {
    note("start")
    if let client { Mock.scripts.withLock { $0[path] }?(self, client) }
  }
  override func stopLoading() { note("stop") }
  override func pauseLoading() { note("pause") }
  override func resumeLoading() { note("resume") }

  func respond(_ status: Int = 200) {
    client?.urlProtocol(self, didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: status))
  }
  func load(_ text: String) { client?.urlProtocol(self, didLoad: Data(text.utf8)) }
  func finish() { client?.urlProtocolDidFinishLoading(self) }
  func redirect(to url: String, _ status: Int = 302) {
    client?.urlProtocol(
      self, wasRedirectedTo: URLRequest(string: url),
      redirectResponse: HTTPURLResponse(urlString: request.urlString, statusCode: status))
  }
}
