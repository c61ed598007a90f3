import FoundationEssentials
import Gannet
import GannetSockets
import TestSupport
import Testing

/// `file` and `data` URLs, which are answered without any class of the user's.
@Suite(.timeLimit(.minutes(1))) struct BuiltInProtocolTests {
  /// A folder of the test's own, which goes with it.
  private final class Folder {
    let path: String
    init() throws {
      path = FileManager.default.temporaryDirectory.path + "/gannet-test-\(UInt64.random(in: 0 ... .max))"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    func write(_ name: String, _ bytes: Data) -> String {
      _ = FileManager.default.createFile(atPath: path + "/" + name, contents: bytes)
      return "file://\(path)/" + name
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private static func run(
    _ url: String, method: String = "GET", _ log: CallbackLog = CallbackLog()
  ) throws -> [String] {
    var request = URLRequest(string: url)
    request.httpMethod = method
    return try Loading.run(request, .default, log)
  }

  @Test func aFileIsAResponseWithItsLengthAndTheTypeOfItsName() throws {
    let folder = try Folder()
    let page = folder.write("a b.html", Data("hello".utf8)).replacing(" ", with: "%20")
    #expect(try Self.run(page) == ["response text/html length 5", "data hello", "finish"])
    #expect(try Self.run(page, method: "HEAD") == ["response text/html length 5", "finish"])
    for form in ["file://localhost", "FILE://", "file:"] {
      let url = form + page.dropFirst("file://".count) + "?query#fragment"
      #expect(try Self.run(url).last == "finish", "\(url)")
    }
    let empty = folder.write("empty", Data())
    #expect(try Self.run(empty) == ["response application/octet-stream length 0", "finish"])
  }

  @Test func aFileThatDoesNotSayItsLengthIsReadToItsEnd() throws {
    let lines = try Self.run("file:///proc/self/status")
    #expect(lines.first == "response application/octet-stream length -1" && lines.last == "finish")
    #expect(lines.count == 3)
  }

  @Test func aLargeFileComesInPieces() throws {
    let folder = try Folder()
    let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    let url = folder.write("large.bin", bytes)
    let probe = HostProbe()
    let loop = try EventLoop()
    _ = URLConnection(request: URLRequest(string: url), delegate: probe, on: .loop(loop.handle))
    loop.run()
    #expect(probe.report.calls == ["response 0", "data", "finish"] && Data(probe.report.body) == bytes)
    loop.shutDown()
  }

  /// While the delegate does not take what was read, nothing more is.
  @Test func aPausedLoadReadsNoFurther() throws {
    let folder = try Folder()
    let url = folder.write("large.bin", Data(repeating: 7, count: 8 << 20))
    let log = CallbackLog()
    let loop = try EventLoop()
    var pieces = 0
    log.onCallback = { name, connection in
      connection.pause()
      if name == "data" { pieces += 1 }
      loop.stop()
    }
    let connection = URLConnection(request: URLRequest(string: url), delegate: log, on: .loop(loop.handle))
    loop.run()
    #expect(log.lines == ["response application/octet-stream length 8388608"])
    for round in 1...3 {
      connection?.resume()
      loop.run()
      // It is paused now, and what comes meanwhile waits.
      loop.run(until: .now + .milliseconds(2))
      #expect(pieces == round && log.largestPiece <= 1 << 18)
    }
    log.onCallback = nil
    connection?.resume()
    loop.run()
    #expect(log.finished().suffix(2) == ["data 8388608 bytes", "finish"])
    loop.shutDown()
  }

  @Test func whatCannotBeReadIsNamed() throws {
    let folder = try Folder()
    let plain = folder.write("plain", Data())
    let rows: [(String, String, String)] = [
      ("file://\(folder.path)/none", "GET", "fail fileDoesNotExist preparing"),
      (plain + "/below", "GET", "fail fileDoesNotExist preparing"),
      ("file://\(folder.path)", "GET", "fail fileIsDirectory preparing"),
      ("file:///dev/null", "GET", "fail cannotOpenFile preparing"),
      (plain + "%00", "GET", "fail cannotOpenFile preparing"),
      (plain, "DELETE", "fail unsupportedURL preparing"),
    ]
    for (url, method, line) in rows { #expect(try Self.run(url, method: method) == [line], "\(url)") }
    let log = CallbackLog()
    _ = try Self.run("file://\(folder.path)/none", log)
    guard case .system = log.error?.cause else {
      Issue.record("no cause")
      return
    }
  }

  @Test func aFileURLOfAnotherHostCannotBeLoaded() {
    let request = URLRequest(string: "file://elsewhere/etc/passwd")
    #expect(!URLConnection.canHandle(request))
    let error = #expect(throws: ConnectionError.self) { try request.validate() }
    #expect(error?.code == .badURL)
  }

  @Test(arguments: [
    ("data:,hi", ["response text/plain length 2", "data hi", "finish"]),
    ("data:text/html;base64,aGk", ["response text/html length 2", "data hi", "finish"]),
    ("data:image/png,", ["response image/png length 0", "finish"]),
    ("data:text/html", ["fail badURL preparing"]),
    ("data:;base64,a", ["fail badURL preparing"]),
  ])
  func aDataURLIsWhatItHolds(_ url: String, _ lines: [String]) throws {
    #expect(try Self.run(url) == lines)
  }

  @Test func aBadDataURLIsToldWithItsPlaceAndWithoutItsData() throws {
    let log = CallbackLog()
    _ = try Self.run("data:;base64,\(String(repeating: "A", count: 1000))-", log)
    #expect(log.error?.cause == .syntax(rule: "data-base64", byte: UInt8(ascii: "-"), offset: 1013))
    #expect(log.error.map { $0.url.utf8.count <= 64 } == true)
  }

  @Test func theConveniencesTakeThem() async throws {
    let (data, response) = try await URLConnection.data(for: URLRequest(string: "data:text/css;charset=x,hi"))
    #expect(data == Data("hi".utf8) && response.statusCode == 200)
    #expect(response.value(forHTTPHeaderField: "Content-Type") == "text/css;charset=x")
    let (file, head) = try await URLConnection.data(for: URLRequest(string: "file:///proc/self/status"))
    #expect(!file.isEmpty && head.expectedContentLength == -1)
  }

  @Test func cancellingAFileLoadSaysNothingMore() throws {
    let folder = try Folder()
    let url = folder.write("large.bin", Data(repeating: 7, count: 4 << 20))
    for callback in ["response", "data"] {
      let log = CallbackLog()
      log.onCallback = { name, connection in if name == callback { connection.cancel() } }
      let lines = try Self.run(url, log)
      #expect(lines.count == (callback == "response" ? 1 : 2) && lines.last?.hasPrefix("f") == false)
    }
  }
}
