import FetchTool
import Foundation
import Gannet
import TestSupport
import Testing

@Suite("Fetch: what is sent")
struct UploadTests {
  private static func request(_ words: [String], body: [UInt8]? = nil) throws -> URLRequest {
    let options = try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    return try options.request(for: options.urls[0], body: body, upload: options.uploads.first)
  }

  @Test(arguments: [
    ("http://h/a/", "dir/file name", "http://h/a/file%20name"), ("http://h", "x?#y", "http://h/x%3F%23y"),
    ("http://h/a/#f", "é", "http://h/a/%C3%A9"), ("http://h/a", "x", "http://h/a"),
    ("http://h/a/?q", "x", "http://h/a/?q"), ("http://h/", "-", "http://h/"),
  ])
  func aFolderGetsTheFilesName(_ url: String, _ file: String, _ result: String) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/gannet-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder + "/dir", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = file == "-" ? file : "\(folder)/\(file)"
    if file != "-" { #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8))) }
    let request = try Self.request([url, "-T", path])
    #expect(request.urlString == result)
    #expect(request.httpMethod == "PUT")
  }

  /// As curl: more than a mebibyte, or who knows how much, is sent once the server has asked for it.
  @Test func longBodiesExpectToBeAskedFor() throws {
    let long = [UInt8](repeating: 0x61, count: 1024 * 1024 + 1)
    func expects(_ words: [String], _ body: [UInt8]? = nil) throws -> String? {
      try Self.request(["http://h/"] + words, body: body).value(forHTTPHeaderField: "Expect")
    }
    #expect(try expects(["-d", "x"], long) == "100-continue")
    #expect(try expects(["-T", "-"]) == "100-continue")
    #expect(try expects(["-d", "x"], long.dropLast()) == nil)
    #expect(try expects([]) == nil)
    #expect(try expects(["-d", "x", "-H", "Expect:"], long) == nil)
    #expect(try expects(["-T", "-", "-H", "expect:"]) == nil)
    #expect(try expects(["-d", "x", "-H", "Expect: other"], long) == "other")
    #expect(try expects(["-d", "x", "-H", "Upgrade: h2c"], long) == nil)
    #expect(try expects(["-d", "x", "-0"], long) == nil)
  }

  @Test func aFileToSendHasToBeThere() throws {
    let error = #expect(throws: ToolError.self) { try Self.request(["http://h/", "-T", "/nowhere/at/all"]) }
    #expect(error?.code == .cannotRead)
    #expect(error?.sentence.contains("/nowhere/at/all") == true)
  }

  @Test func aFileArrives() throws {
    let trial = try FetchTrial()
    try Data("some text".utf8).write(to: URL(filePath: trial.folder + "/sent"))
    let url = try trial.serve(FetchCommandTests.answer("thanks"))
    let recording = trial.folder + "/recording"
    let files = ["-o", trial.folder + "/got", "--record", recording]
    #expect(try trial.fetch([url, "-T", trial.folder + "/sent", "-H", "A: b"] + files) == .finished)
    #expect(trial.contents("got") == "thanks")
    let recorded = try #require(trial.contents("recording"))
    #expect(recorded.contains("PUT /"))
    #expect(recorded.contains("Content-Length: 9\r\n\r\nsome text"))
    #expect(recorded.contains("body 9\nsome text"))

    #expect(
      try trial.fetch(["-0", url, "-d", "x", "-o", trial.folder + "/got", "--record", recording]) == .finished
    )
    #expect(trial.contents("recording")?.contains(" HTTP/1.0\r\n") == true)
  }
}
