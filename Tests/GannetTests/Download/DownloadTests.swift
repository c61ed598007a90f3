import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// `download(for:to:)`: a file that has its place only once it is whole.
@Suite(.timeLimit(.minutes(1))) struct DownloadTests {
  private static func server() throws -> PathServer {
    try PathServer { path in
      switch path {
      case "/large":
        .last(
          Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8)
            + [UInt8](repeating: 120, count: 1_000_000))
      case "/some": .bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello".utf8))
      default: Trouble.reply(to: path)
      }
    }
  }

  private static func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test(arguments: [("/", 200, "hello"), ("/missing", 404, "no"), ("/moved", 200, "hello")])
  func aFileOfItsOwn(_ path: String, _ status: Int, _ body: String) async throws {
    let server = try Self.server()
    let (first, response) = try await URLConnection.download(for: Trouble.request(server, path))
    let (second, _) = try await URLConnection.download(for: Trouble.request(server, path))
    defer { for file in [first, second] { try? FileManager.default.removeItem(at: file) } }
    #expect(response.statusCode == status)
    #expect(first != second)
    #expect(try String(decoding: Data(contentsOf: first), as: UTF8.self) == body)
    #expect(try Self.mode(first.path) == 0o600)
    #expect(first.path.hasPrefix(FileManager.default.temporaryDirectory.path))
  }

  @Test func aDestinationIsReplacedOnceTheFileIsWhole() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    try Data("old".utf8).write(to: folder.url())
    let (file, response) = try await URLConnection.download(
      for: Trouble.request(server, "/large"), to: folder.url())
    #expect(file == folder.url() && response.expectedContentLength == 1_000_000)
    #expect(folder.text()?.utf8.count == 1_000_000)
    #expect(try Self.mode(folder.path + "/file") == 0o600)
    #expect(folder.names == ["file"])
    #expect(folder.openDescriptors == 0)
  }

  @Test func anEmptyBodyIsAnEmptyFile() async throws {
    let folder = try Folder()
    let server = try PathServer { _ in .ok("", status: "204 No Content") }
    _ = try await URLConnection.download(for: Trouble.request(server, "/"), to: folder.url())
    #expect(folder.text() == "")
  }

  @Test func aLinkIsFollowed() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    try Data("old".utf8).write(to: folder.url("real"))
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "real")
    _ = try await URLConnection.download(for: Trouble.request(server, "/"), to: folder.url("link"))
    #expect(folder.text("real") == "hello" && folder.names == ["link", "real"])
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/link")
    #expect(link == "real")
  }

  @Test func aStreamOfPartsIsKeptAsItIs() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    _ = try await URLConnection.download(for: Trouble.request(server, "/parts"), to: folder.url())
    #expect(folder.text()?.hasPrefix("--B\r\nContent-Length: 3\r\n\r\none\r\n--B\r\n") == true)
    #expect(folder.text()?.hasSuffix("two\r\n--B--\r\n") == true)
  }

  /// Whatever fails, what was there is there, and nothing else.
  @Test(arguments: Trouble.rows)
  func aFailureLeavesNothing(_ row: Trouble) async throws {
    let (server, folder) = (try Self.server(), try Folder())
    try Data("old".utf8).write(to: folder.url())
    let request = row.request(server)
    let destination = folder.url()
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.download(for: request, to: destination)
    }
    row.check(error)
    #expect(folder.names == ["file"] && folder.text() == "old")
    #expect(folder.openDescriptors == 0)
  }

  @Test func aFullDiskIsTold() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/large")
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.download(for: request, to: URL(filePath: "/dev/full"))
    }
    #expect(error?.code == .cannotWriteToFile && error?.phase == .receiving)
    #expect(error?.cause == .system(errno: 28))
    #expect(error?.reason == "the file /dev/full cannot be written: No space left on device")
    #expect(FileManager.default.fileExists(atPath: "/dev/full"))
    try await server.until { $0.open == 0 }
    let (null, _) = try await URLConnection.download(for: request, to: URL(filePath: "/dev/null"))
    #expect(null.path == "/dev/null" && FileManager.default.fileExists(atPath: "/dev/null"))
  }

  /// A destination that cannot be written fails the load before anything is sent.
  @Test(arguments: [
    ("", CInt(21)), ("/missing/file", 2), ("/plain/file", 20), ("/folder", 21), ("/pipe", 29),
    ("/dangling", 2),
  ])
  func aFileThatCannotBeCreated(_ name: String, _ errno: CInt) async throws {
    let (server, folder) = (try Self.server(), try Folder())
    try Data().write(to: folder.url("plain"))
    try FileManager.default.createDirectory(
      atPath: folder.path + "/folder", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/dangling", withDestinationPath: "nothing")
    #expect(unsafe mkfifo(folder.path + "/pipe", 0o600) == 0)
    let request = Trouble.request(server, "/")
    let destination = URL(filePath: folder.path + name)
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.download(for: request, to: destination)
    }
    #expect(error?.code == .cannotCreateFile && error?.phase == .preparing)
    #expect(error?.cause == .system(errno: errno))
    #expect(server.counts.accepted == 0)
    #expect(folder.names == ["dangling", "folder", "pipe", "plain"])
  }

  @Test func aDestinationThatIsNoFile() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/")
    let elsewhere = try #require(URL(string: "http://h/file"))
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.download(for: request, to: elsewhere)
    }
    #expect(error?.code == .cannotCreateFile)
  }

  /// A C string ends at a NUL: without a word about it another file would be replaced.
  @Test func aDestinationWithANULIsNone() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    try Data("old".utf8).write(to: folder.url())
    let destination = try #require(URL(string: folder.url().absoluteString + "%00b"))
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.download(for: Trouble.request(server, "/"), to: destination)
    }
    #expect(error?.code == .cannotCreateFile)
    #expect(throws: SystemError(errno: EINVAL, call: "open")) {
      try NewFile(at: folder.path + "/file\0b")
    }
    #expect(server.counts.accepted == 0 && folder.names == ["file"] && folder.text() == "old")
  }

  @Test func aDestinationThatBecomesAFolderMeanwhile() async throws {
    let folder = try Folder()
    let path = folder.url().path
    Mock.answer("/becomes-a-folder") { mock, _ in
      mock.respond()
      mock.load("hello")
      #expect(throws: Never.self) {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      mock.finish()
    }
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.download(
        for: URLRequest(string: "http://mock.test/becomes-a-folder"), to: folder.url(),
        configuration: Mock.configuration)
    }
    #expect(error?.code == .cannotMoveFile)
    #expect(folder.names == ["file"] && folder.openDescriptors == 0)
  }

  @Test func aFileInItsOwnPlaceIsWhatItWas() async throws {
    let folder = try Folder()
    let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
    try bytes.write(to: folder.url())
    _ = try await URLConnection.download(
      for: URLRequest(string: folder.url().absoluteString), to: folder.url())
    #expect(try Data(contentsOf: folder.url()) == bytes)
    #expect(folder.names == ["file"] && folder.openDescriptors == 0)
  }

  // MARK: Cancelling

  @Test func aCancelLeavesNothing() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    try Data("old".utf8).write(to: folder.url())
    for path in ["/stall", "/some", "/endless"] {
      let (request, destination) = (Trouble.request(server, path), folder.url())
      let task = Task { try await URLConnection.download(for: request, to: destination) }
      let count = server.counts.paths.count
      try await server.until { $0.paths.count > count || $0.paths.last == path }
      task.cancel()
      let error = await #expect(throws: ConnectionError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      #expect(folder.names == ["file"] && folder.text() == "old")
      #expect(folder.openDescriptors == 0)
    }
    try await server.until { $0.open == 0 }
  }

  @Test func aTaskThatWasCancelledLoadsNothing() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    let (request, destination) = (Trouble.request(server, "/"), folder.url())
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await URLConnection.download(for: request, to: destination)
    }
    let error = await #expect(throws: ConnectionError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(server.counts.accepted == 0 && folder.names == [])
  }

  /// A whole file or none, and which of the two is what was said.
  @Test func cancelsAtAnyMoment() async throws {
    let (server, folder) = (try Self.server(), try Folder())
    var generator = SeededGenerator(seed: 31)
    for index in 0..<200 {
      let (request, destination) = (
        Trouble.request(server, index.isMultiple(of: 2) ? "/" : "/large"), folder.url("\(index)")
      )
      let task = Task { try await URLConnection.download(for: request, to: destination) }
      for _ in 0..<Int.random(in: 0..<300, using: &generator) { await Task.yield() }
      task.cancel()
      do {
        _ = try await task.value
        #expect([5, 1_000_000].contains(folder.text("\(index)")?.utf8.count))
        try FileManager.default.removeItem(at: destination)
      } catch {
        #expect((error as? ConnectionError)?.code == .cancelled)
      }
      #expect(folder.names == [])
    }
    #expect(folder.openDescriptors == 0)
    try await server.until { $0.open <= 6 }
  }
}
