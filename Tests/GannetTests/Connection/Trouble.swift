import Gannet
import TestSupport
import Testing

/// A load that fails, and how: the same whoever asked for it.
struct Trouble: Sendable, CustomTestStringConvertible {
  var testDescription: String { path }
  /// A path of the server, or a whole URL.
  var path: String
  var code: ConnectionError.Code
  var phase: ConnectionError.Phase
  /// The inactivity limit.
  var seconds = 20.0

  static let rows: [Trouble] = [
    Trouble(path: "foo://h/", code: .unsupportedURL, phase: .preparing),
    Trouble(path: "http://", code: .badURL, phase: .preparing),
    Trouble(path: "http://127.0.0.1:1/", code: .cannotConnectToHost, phase: .connecting),
    Trouble(path: "https:", code: .secureConnectionFailed, phase: .handshaking),
    Trouble(path: "/stall", code: .timedOut, phase: .awaiting, seconds: 1),
    Trouble(path: "/reset", code: .networkConnectionLost, phase: .awaiting),
    Trouble(path: "/short", code: .networkConnectionLost, phase: .receiving),
    Trouble(path: "/garbage", code: .badServerResponse, phase: .receiving),
    Trouble(path: "/endless-head", code: .dataLengthExceedsMaximum, phase: .receiving),
    Trouble(path: "/loop", code: .httpTooManyRedirects, phase: .receiving),
    Trouble(path: "/nowhere", code: .redirectToNonExistentLocation, phase: .receiving),
    Trouble(path: "/elsewhere", code: .unsupportedURL, phase: .receiving),
    Trouble(path: "/not-gzip", code: .cannotDecodeContentData, phase: .receiving),
  ]

  func request(_ server: PathServer) -> URLRequest {
    let url =
      switch path {
      case "https:": "https://127.0.0.1:\(server.port)/"
      default: path.hasPrefix("/") ? server.url(path) : path
      }
    var request = URLRequest(string: url)
    request.timeoutInterval = seconds
    return request
  }

  var configuration: URLConnection.Configuration { .default }

  func check(_ error: ConnectionError?) {
    #expect(error?.code == code)
    #expect(error?.phase == phase)
  }

  static func request(_ server: PathServer, _ path: String) -> URLRequest {
    URLRequest(string: server.url(path))
  }

  /// A server with all that goes wrong, and some that goes well.
  static func server() throws -> PathServer {
    try PathServer { reply(to: $0) }
  }

  /// What that server says.
  static func reply(to path: String) -> PathServer.Reply {
    switch path {
    case "/stall": .silence
    case "/closing": .closing("hello")
    case "/missing": .ok("no", status: "404 Not Found")
    case "/moved": .ok("", status: "302 Found", "Location: /\r\n")
    case "/parts": .last(Array(parts.utf8))
    case "/camera":
      .endless(
        Array(cameraHead.utf8),
        Array("--B\r\nContent-Length: 1000\r\n\r\n\(String(repeating: "a", count: 1000))\r\n".utf8))
    case "/empty-parts":
      .endless(Array(cameraHead.utf8), Array("--B\r\nContent-Length: 0\r\n\r\n\r\n".utf8))
    case "/endless":
      .endless(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [UInt8](repeating: 7, count: 16 * 1024))
    case "/hints": .bytes(Array("HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n".utf8) + Answer.ok("hello").bytes)
    case "/trailers": .bytes(Array(trailers.utf8))
    case "/reset": .reset
    case "/short": .last(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8))
    case "/garbage": .last(Array("what do you want?\r\n\r\n".utf8))
    case "/endless-head": .endless(Array("HTTP/1.1 200 OK\r\n".utf8), Array("X-Y: zzzzzzzz\r\n".utf8))
    case "/loop": .ok("", status: "302 Found", "Location: /loop\r\n")
    case "/nowhere": .ok("", status: "302 Found", "Location: http://\r\n")
    case "/elsewhere": .ok("", status: "302 Found", "Location: gopher://h/\r\n")
    case "/not-gzip": .ok("hello", "Content-Encoding: gzip\r\n")
    default: .ok("hello")
    }
  }

  private static let cameraHead =
    "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
  private static let parts =
    cameraHead + "--B\r\nContent-Length: 3\r\n\r\none\r\n--B\r\nContent-Length: 3\r\n\r\ntwo\r\n--B--\r\n"
  private static let trailers =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n"
}
