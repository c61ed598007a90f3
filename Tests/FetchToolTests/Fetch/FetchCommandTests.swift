import FetchTool
import FoundationEssentials
import GannetSockets
import Testing

/// Fetches from recordings that are served in the same loop, into a folder of its own.
final class FetchTrial {
  let folder: String
  let loop = EventLoop.current
  private var servers: [PlaybackServer] = []

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/gannet-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    for server in servers { server.stop() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Serves one answer to any request; gives its URL.
  func serve(_ answer: String, ends: Bool = false) throws -> String {
    var events: [Recording.Event] = [.received(Array(answer.utf8))]
    if ends { events.append(.endOfFile) }
    let server = try PlaybackServer(PlaybackServerTests.recording(events), on: loop)
    servers.append(server)
    return server.url
  }

  /// Runs the fetcher with these arguments; gives its exit status.
  func fetch(_ words: [String]) throws -> ExitCode {
    let options = try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    do throws(ToolError) {
      try FetchCommand(options, on: loop).run()
      return .finished
    } catch { return error.code }
  }

  func contents(_ name: String) -> String? {
    FileManager.default.contents(atPath: folder + "/" + name).map { String(decoding: $0, as: UTF8.self) }
  }
}

@Suite("Fetch: the command as a whole")
struct FetchCommandTests {
  static func answer(_ body: String, status: String = "200 OK") -> String {
    "HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test func severalURLsHaveFilesOfTheirOwn() throws {
    let trial = try FetchTrial()
    let urls = try ["one", "two", ""].map { try trial.serve(Self.answer($0)) }
    let files = ["a", "b", "c"].flatMap { ["-o", trial.folder + "/" + $0] }
    #expect(try trial.fetch(urls + files) == .finished)
    #expect(["a", "b", "c"].map { trial.contents($0) } == ["one", "two", ""])
  }

  @Test func fileAndDataURLsAreFetchedAsCurlDoes() throws {
    let trial = try FetchTrial()
    _ = FileManager.default.createFile(atPath: trial.folder + "/in.txt", contents: Data("hello".utf8))
    let (file, out) = ("file://\(trial.folder)/in.txt", ["-o", trial.folder + "/out"])
    for (url, body) in [(file, "hello"), ("data:,hi", "hi"), ("data:;base64,aGk", "hi")] {
      #expect(try trial.fetch([url] + out) == .finished)
      #expect(trial.contents("out") == body)
    }
    #expect(try trial.fetch(["-I", file] + out) == .finished)
    #expect(trial.contents("out") == "Content-Type: text/plain\r\nContent-Length: 5\r\n\r\n")
    for (url, status) in [
      ("file://\(trial.folder)/none", ExitCode.cannotReadFileURL),
      ("file://\(trial.folder)", .cannotReadFileURL),
      ("file://elsewhere/x", .badURL), ("data:x", .badURL),
    ] { #expect(try trial.fetch(["-s", url] + out) == status) }
    let moved = try trial.serve("HTTP/1.1 302 Found\r\nLocation: \(file)\r\nContent-Length: 0\r\n\r\n")
    #expect(try trial.fetch(["-s", "-L", moved] + out) == .unsupportedScheme)
  }

  @Test func aFailureIsTheExitStatusAndTheOthersGoOn() throws {
    let trial = try FetchTrial()
    let missing = try trial.serve(Self.answer("no", status: "404 Not Found"))
    let there = try trial.serve(Self.answer("yes"))
    let files = ["-o", trial.folder + "/a", "-o", trial.folder + "/b"]
    #expect(try trial.fetch(["--fail", missing, there] + files) == .failedStatus)
    #expect(trial.contents("a") == nil)
    #expect(trial.contents("b") == "yes")
    #expect(try trial.fetch([missing] + files.prefix(2)) == .finished)
    #expect(trial.contents("a") == "no")
  }

  /// A redirect to another place does not take the password along, whoever asks for it there.
  @Test func aLoginIsForTheOriginOfTheURLAlone() throws {
    let trial = try FetchTrial()
    for challenge in ["Basic realm=r", "Digest realm=r, nonce=n, qop=auth"] {
      let asking = "HTTP/1.1 401 Who\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 3\r\n\r\nwho"
      let (asker, other) = (try trial.serve(asking), try trial.serve(asking))
      let moved = try trial.serve("HTTP/1.1 302 Found\r\nLocation: \(other)\r\nContent-Length: 0\r\n\r\n")
      let rest = [
        "-u", "guest:secret", "-o", trial.folder + "/out", "--record", trial.folder + "/r",
        "--record-secrets",
      ]
      #expect(try trial.fetch([asker] + rest) == .finished)
      #expect(trial.contents("out") == "who")
      #expect(trial.contents("r")?.contains("\r\nAuthorization: ") == true)
      #expect(try trial.fetch([moved] + rest) == .finished)
      #expect(trial.contents("out") == "who")
      #expect(trial.contents("r")?.contains("\r\nAuthorization: ") == false)
    }
  }

  @Test func whatCameOfATruncatedAnswerIsKept() throws {
    let trial = try FetchTrial()
    let url = try trial.serve("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", ends: true)
    #expect(try trial.fetch([url, "-o", trial.folder + "/a"]) == .cutShort)
    #expect(trial.contents("a") == "abc")
  }

  @Test func theHeadIsShown() throws {
    let trial = try FetchTrial()
    let url = try trial.serve("HTTP/1.1 200 Fine\r\nA: b\r\nContent-Length: 3\r\n\r\n")
    #expect(try trial.fetch(["-I", url, "-o", trial.folder + "/a"]) == .finished)
    #expect(trial.contents("a") == "HTTP/1.1 200 Fine\r\nA: b\r\nContent-Length: 3\r\n\r\n")
  }

  @Test func partsAreFiles() throws {
    let trial = try FetchTrial()
    let parts = ["one", "two"].map { "--B\r\nContent-Type: image/jpeg\r\n\r\n\($0)\r\n" }.joined()
    let url = try trial.serve(
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n\(parts)--B--\r\n",
      ends: true)
    #expect(
      try trial.fetch([url, "--parts", trial.folder + "/parts", "-o", trial.folder + "/all"]) == .finished)
    #expect(trial.contents("parts/part-000001.jpg") == "one")
    #expect(trial.contents("parts/part-000002.jpg") == "two")
    #expect(trial.contents("all") == "onetwo")
  }

  @Test func aPartThatWasCutKeepsAnotherName() throws {
    let trial = try FetchTrial()
    let field = "--B\r\nContent-Type: image/jpeg\r\nContent-Length: "
    let url = try trial.serve(
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n"
        + "\(field)3\r\n\r\none\r\n\(field)9\r\n\r\ntwo", ends: true)
    #expect(try trial.fetch([url, "--parts", trial.folder + "/a/parts"]) == .cutShort)
    #expect(trial.contents("a/parts/part-000001.jpg") == "one")
    #expect(trial.contents("a/parts/part-000001.jpg.part") == nil)
    #expect(trial.contents("a/parts/part-000002.jpg") == nil)
    #expect(trial.contents("a/parts/part-000002.jpg.part") == "two")
  }

  @Test func whatIsNoStreamHasNoPartsToSave() throws {
    let trial = try FetchTrial()
    let parts = trial.folder + "/parts"
    let url = try trial.serve(Self.answer("text"))
    #expect(try trial.fetch([url, "--parts", parts, "-o", trial.folder + "/a"]) == .badResponse)
    #expect(trial.contents("a") == "text")
    #expect(!FileManager.default.fileExists(atPath: parts))
  }

  @Test func theStatusIsThatOfTheFirstURLThatFailed() throws {
    let trial = try FetchTrial()
    let cut = try trial.serve("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", ends: true)
    let files = ["a", "b", "c"].flatMap { ["-o", trial.folder + "/" + $0] }
    let there = try trial.serve(Self.answer("yes"))
    #expect(try trial.fetch(["-s", there, cut, "no-url"] + files) == .cutShort)
    #expect(try trial.fetch(["-s", "no-url", there, cut] + files) == .badURL)
  }

  @Test func aFileOfFieldsHasComments() throws {
    let trial = try FetchTrial()
    try Data("# why\nA: b\n".utf8).write(to: URL(filePath: trial.folder + "/h"))
    let url = try trial.serve(Self.answer("x"))
    let words = [
      url, "-H", "@" + trial.folder + "/h", "-o", trial.folder + "/a", "--record", trial.folder + "/r",
    ]
    #expect(try trial.fetch(words) == .finished)
    #expect(trial.contents("r")?.contains("\nfield A: b\n") == true)
    #expect(trial.contents("r")?.contains("# why") == false)
  }

  @Test func aURLThatCannotBeLoadedLeavesAnEarlierRecording() throws {
    let trial = try FetchTrial()
    let file = trial.folder + "/r"
    try Data("kept".utf8).write(to: URL(filePath: file))
    #expect(throws: ToolError.self) {
      var options = FetchOptions()
      options.urls = ["nonsense"]
      options.recordFile = file
      _ = try FetchCommand(options, on: trial.loop)
    }
    #expect(trial.contents("r") == "kept")
  }

  @Test(
    arguments: [
      ([Array("text".utf8)], false), ([[0x89, 0, 1]], true), ([[65], [0]], true),
      ([[UInt8](repeating: 65, count: 1999), [65, 0]], false),
      ([[UInt8](repeating: 65, count: 1999), [0]], true),
    ] as [([[UInt8]], Bool)])
  func terminalsAreSparedBinaryBodies(_ pieces: [[UInt8]], _ refuses: Bool) {
    var terminal = TerminalGuard()
    #expect(pieces.reduce(false) { $0 || terminal.refuses($1.span) } == refuses)
  }

  @Test func aServerThatStallsMeetsTheLimit() throws {
    let trial = try FetchTrial()
    let silent = try Listener(on: trial.loop)
    var clients: [StreamSocket] = []
    silent.onAccept = { clients.append($0) }
    let url = "http://\(silent.address)/"
    #expect(try trial.fetch([url, "-m", "0.05", "-o", trial.folder + "/a"]) == .timedOut)
    #expect(trial.contents("a") == nil)
  }

  @Test func aRecordingIsTheLoadAgain() throws {
    let trial = try FetchTrial()
    let url = try trial.serve(
      "HTTP/1.1 200 OK\r\nSet-Cookie: id=secret; Path=/\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    )
    let file = trial.folder + "/r.wire"
    #expect(
      try trial.fetch([
        url, "-H", "Cookie: a=secret", "-d", "x=1", "--record", file, "-o", trial.folder + "/a",
      ])
        == .finished)
    let text = try #require(trial.contents("r.wire"))
    #expect(!text.contains("secret"))
    #expect(text.contains("\nfield Cookie: a=******\n"))
    #expect(text.contains("\nbody 3\nx=1\n"))
    let recording = try RecordingParser.parse(Array(text.utf8))
    let events = try Replay(recording).events(cuts: .every(1), on: trial.loop)
    #expect(events.contains { $0.hasPrefix("{\"event\":\"didReceiveData\",\"length\":3,") }, "\(events)")
    #expect(events.last?.hasPrefix("{\"event\":\"didFinishLoading\"") == true)
    #expect(try trial.fetch(["ftp://a/"]) == .unsupportedScheme)
    #expect(try trial.fetch(["a/b"]) == .badURL)
    #expect(try trial.fetch([url, "-o", trial.folder + "/none/a"]) == .cannotWrite)
    #expect(try trial.fetch([url, "-d", "@" + trial.folder + "/none"]) == .cannotRead)
    #expect(try trial.fetch([url, "--cacert", trial.folder + "/none"]) == .badAuthorityFile)
    let noCertificate = trial.folder + "/text"
    try Data("none here".utf8).write(to: URL(filePath: noCertificate))
    #expect(try trial.fetch([url, "--cacert", noCertificate]) == .badAuthorityFile)
    #expect(try trial.fetch([url, "-H", "a b: c"]) == .badUsage)
    #expect(try trial.fetch([url, "-X", "G T"]) == .badUsage)
  }
}
