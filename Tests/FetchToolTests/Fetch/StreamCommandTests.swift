import FetchTool
import FoundationEssentials
import Gannet
import GannetSockets
import Synchronization
import TestSupport
import Testing

/// Streams on the command line: --max-parts, --snapshot, --reconnect.
@Suite("Fetch: streams", .timeLimit(.minutes(1)))
struct StreamCommandTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n"

  private static func part(_ text: String) -> String { "--B\r\nContent-Type: image/jpeg\r\n\r\n\(text)\r\n" }

  /// Answers the n-th request with the n-th of these and ends the connection; past them with the last.
  private static func server(_ answers: [String]) throws -> PathServer {
    let count = Atomic<Int>(0)
    return try PathServer { _ in
      let index = count.add(1, ordering: .relaxed).oldValue
      return .last(Array(answers[min(index, answers.count - 1)].utf8))
    }
  }

  @Test func soManyPartsEndALoad() throws {
    let trial = try FetchTrial()
    // The stream goes on; the third part is begun.
    let url = try trial.serve(Self.head + ["one", "two", "three"].map(Self.part).joined())
    #expect(try trial.fetch([url, "--parts", trial.folder + "/p", "--max-parts", "2"]) == .finished)
    #expect(trial.contents("p/part-000002.jpg") == "two")
    #expect(trial.contents("p/part-000003.jpg") == nil && trial.contents("p/part-000003.jpg.part") == nil)
  }

  @Test func aSnapshotIsTheNextCompletePart() throws {
    let trial = try FetchTrial()
    let url = try trial.serve(Self.head + ["one", "two"].map(Self.part).joined())
    #expect(try trial.fetch([url, "--snapshot", trial.folder + "/shot.jpg"]) == .finished)
    #expect(trial.contents("shot.jpg") == "one" && trial.contents("shot.jpg.part") == nil)
    let other = try trial.serve(FetchCommandTests.answer("text"))
    #expect(
      try trial.fetch(["-s", other, "-o", trial.folder + "/a", "--snapshot", trial.folder + "/b"])
        == .badResponse)
    #expect(trial.contents("b") == nil)
  }

  @Test func bytesAfterAPictureBelongToItsFile() throws {
    let trial = try FetchTrial()
    let picture = "\u{FF}\u{D8}\u{FF}\u{DA}\0\u{2}x\u{FF}\u{D9}"
    let stream = Self.head + "--B\r\n\r\n\(picture)and more\r\n" + Self.part("two") + "--B--"
    let bytes = Bytes.latin1(stream)
    let server = try PathServer { _ in .last(bytes) }
    #expect(
      try trial.fetch([server.url("/"), "--parts", trial.folder + "/p", "-o", trial.folder + "/all"])
        == .finished)
    let file = FileManager.default.contents(atPath: trial.folder + "/p/part-000001.bin")
    #expect(file.map { Bytes.text(Array($0)) } == picture + "and more")
  }

  @Test func aStreamThatEndsIsLoadedAgain() throws {
    let trial = try FetchTrial()
    let server = try Self.server([
      // Ended, cut, refused, cut again: then there is one.
      Self.head + Self.part("one") + "--B--",
      Self.head + Self.part("two") + "--B\r\nContent-Length: 9\r\n\r\ncut",
      "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
      Self.head + Self.part("three") + "--B--",
    ])
    let folder = trial.folder + "/p"
    #expect(
      try trial.fetch(["-sf", server.url("/"), "--parts", folder, "--max-parts", "3", "--reconnect=0.001"])
        == .finished)
    #expect(server.counts.paths.count == 5)
    #expect(trial.contents("p/part-000001.jpg") == "one" && trial.contents("p/part-000002.jpg") == "two")
    // What was cut keeps its number and its name.
    #expect(
      trial.contents("p/part-000003.bin.part") == "cut" && trial.contents("p/part-000004.jpg") == "three")
  }

  @Test(arguments: [
    ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", ExitCode.failedStatus),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", .finished),
  ])
  func whatWouldBeTheSameIsNotLoadedAgain(_ answer: String, _ code: ExitCode) throws {
    let trial = try FetchTrial()
    let server = try Self.server([answer])
    #expect(
      try trial.fetch(["-sf", server.url("/"), "-o", trial.folder + "/a", "--reconnect=0.001"]) == code)
    #expect(server.counts.paths.count == 1)
    #expect(try trial.fetch(["-s", "--reconnect", "no-url"]) == .badURL)
  }

  @Test func aTimeLimitEndsTheWaitToo() throws {
    let trial = try FetchTrial()
    let server = try Self.server([Self.head + Self.part("one") + "--B--"])
    #expect(
      try trial.fetch(["-s", server.url("/"), "-o", trial.folder + "/a", "--reconnect=30", "-m", "0.05"])
        == .timedOut)
  }

  @Test func waitsDoubleUpToAMinute() {
    var waits = Reconnection(first: .seconds(10))
    #expect((0..<4).map { _ in waits.wait() } == [.seconds(10), .seconds(20), .seconds(40), .seconds(60)])
    #expect(waits.wait() == .seconds(60))
    waits.succeeded()
    #expect(waits.wait() == .seconds(10))
    var long = Reconnection(first: .seconds(100))
    #expect(long.wait() == .seconds(60))
  }

  @Test(arguments: [
    ["u", "--max-parts", "0"], ["u", "--max-parts", "x"], ["u", "--snapshot", "a", "--parts", "b"],
    ["u", "--snapshot", "-"],
    ["u", "--snapshot", "a", "--max-parts", "1"], ["u", "v", "--snapshot", "a"], ["u", "--reconnect=x"],
    ["u", "--reconnect=0"],
    ["--replay", "f", "--reconnect"],
  ])
  func whatMakesNoSenseIsRefused(_ words: [String]) throws {
    #expect(throws: ArgumentError.self) {
      try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    }
  }
}
