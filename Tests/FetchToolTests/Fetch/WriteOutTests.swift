import FetchTool
import Gannet
import GannetHTTP
import Testing

/// `-w`: the format, and what its variables say.
@Suite("Fetch: what is printed after a load")
struct WriteOutTests {
  private static func printed(_ format: String, _ outcome: WriteOutFacts.Outcome = .init()) throws -> String {
    try WriteOutFormat(format).printed(WriteOutFacts(outcome)).map(\.text).joined()
  }

  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("a\\nb\\tc\\rd", "a\nb\tc\rd"), ("\\x\\", "\\x\\"), ("100%%", "100%"),
    ("%", "%"),
    ("%{", "%{"), ("%x", "%x"), ("%header{", "%header{"), ("[%{http_code}]\\n", "[000]\n"),
    ("%{response_code}%{http_code}", "000000"), ("%{num_redirects} %{exitcode}", "0 0"),
    ("%{content_type}.", "."),
    ("%{remote_ip}%{remote_port}", "0"), ("%header{Server}", ""), ("%{http_version}", "0"),
    ("é%{exitcode}", "é0"),
  ])
  func format(_ format: String, _ text: String) throws {
    #expect(try Self.printed(format) == text)
  }

  @Test(arguments: ["%{nothing}", "%{}", "%{HTTP_CODE}", "a%{time_total }"])
  func anUnknownVariableIsNamed(_ format: String) throws {
    let error = #expect(throws: ArgumentError.self) { try WriteOutFormat(format) }
    let name = format.drop { $0 != "%" }
    #expect(error?.sentence.hasPrefix("-w has no variable \(name); it has ") == true)
    #expect(error?.sentence.contains("http_code, http_version") == true)
  }

  @Test func theTwoOutputs() throws {
    let pieces = try WriteOutFormat("a%{stderr}b%{exitcode}%{stdout}c").printed(WriteOutFacts(.init()))
    #expect(pieces.map(\.text) == ["a", "b0", "c"])
    #expect(pieces.map(\.toStandardError) == [false, true, false])
  }

  @Test func secondsHaveSixDecimals() throws {
    var outcome = WriteOutFacts.Outcome()
    outcome.end = outcome.start + .microseconds(1_000_042)
    #expect(try Self.printed("%{time_total} %{time_connect}", outcome) == "1.000042 0.000000")
  }

  /// Of a file there is no transaction, but a type and bytes; as a number of JSON a status has no leading zeros.
  @Test func whatIsNotOfTheNetworkHasATypeAndASize() throws {
    var outcome = WriteOutFacts.Outcome()
    outcome.url = "file:///a"
    outcome.response = URLResponse(
      urlString: "file:///a", mimeType: "text/plain", expectedContentLength: 5, textEncodingName: nil)
    outcome.bodyBytes = 5
    #expect(try Self.printed("%{http_code} %{size_download} %{content_type}", outcome) == "000 5 text/plain")
    #expect(try Self.printed("%{json}", outcome).contains("\"response_code\":0,"))
  }

  @Test func aFailureIsTold() throws {
    var outcome = WriteOutFacts.Outcome()
    outcome.url = "http://u:p@h/"
    outcome.exitCode = .cannotConnect
    outcome.message = "no \"way\""
    #expect(try Self.printed("%{exitcode} %{errormsg} %{url}", outcome) == "7 no \"way\" http://h/")
    let json = try Self.printed("%{json}", outcome)
    #expect(json.hasPrefix("{\"content_type\":null,\"errormsg\":\"no \\\"way\\\"\",\"exitcode\":7,"))
    #expect(json.contains("\"time_total\":0.0") && json.hasSuffix("}"))
  }
}

@Suite("Fetch: flags for looking closer", .serialized)
struct CloseLookTests {
  private static let moved = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 4\r\n\r\ngone"
  private static let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi"

  @Test func headsGoBeforeTheBody() throws {
    let trial = try FetchTrial()
    let url = try trial.serve(Self.answer)
    #expect(try trial.fetch(["-i", "-o", trial.folder + "/a", url]) == .finished)
    #expect(trial.contents("a") == Self.answer)
    // Without following, the redirect's own head and body.
    let away = try trial.serve(Self.moved)
    #expect(try trial.fetch(["-i", "--no-redirect", "-o", trial.folder + "/b", away]) == .finished)
    #expect(trial.contents("b")?.hasPrefix("HTTP/1.1 302 Found\r\n") == true)
    #expect(trial.contents("b")?.hasSuffix("\r\n\r\ngone") == true)
  }

  @Test func aFileIsNamedByItsURL() throws {
    let parser = ArgumentParser(flags: FetchOptions.flags)
    let read = try FetchOptions(
      arguments: parser.parse([
        "-O", "http://h/a/b%20c.txt?x#y", "-o", "f", "http://h/2", "-O", "http://h/../d",
      ]))
    #expect(read.outputs == ["b%20c.txt", "f", "d"])
    for url in ["http://h", "http://h/a/", "http://u:secret@h/?x/y"] {
      let error = #expect(throws: ArgumentError.self) {
        try FetchOptions(arguments: parser.parse(["-O", url]))
      }
      #expect(error?.sentence.contains("ends with no name of a file: give -o FILE") == true)
      #expect(error?.sentence.contains("secret") == false)
    }
  }

  @Test(arguments: [
    (["-A", "me/1"], "me/1"), (["-A", ""], nil), (["-A", "me", "-H", "user-agent: you"], "you"),
    (["-A", "me", "-H", "User-Agent:"], nil),
  ])
  func theUserAgent(_ flags: [String], _ name: String?) throws {
    let options = try FetchOptions(
      arguments: ArgumentParser(flags: FetchOptions.flags).parse(flags + ["http://h/"]))
    let request = try options.request(for: "http://h/", body: nil)
    #expect(request.fields.values(for: "User-Agent") == (name.map { [$0] } ?? []))
    #expect(request.omittedFields.contains("user-agent") == (name == nil))
  }

  /// As in curl: what is given twice is loaded twice, though a response could be kept.
  @Test func theServerIsAskedEachTime() throws {
    let parser = ArgumentParser(flags: FetchOptions.flags)
    let options = try FetchOptions(arguments: parser.parse(["http://h/", "http://h/"]))
    #expect(try options.request(for: "http://h/", body: nil).cachePolicy == .reloadIgnoringLocalCacheData)
  }

  @Test(arguments: [([""], "the URL is empty"), (["http://h/", ""], "URL 2 is empty")])
  func anEmptyURL(_ words: [String], _ beginning: String) throws {
    let error = #expect(throws: ArgumentError.self) {
      try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    }
    #expect(error?.sentence.hasPrefix(beginning) == true)
  }

  @Test func eventsAndAFormatAreNotMixed() {
    #expect(throws: ArgumentError.self) {
      try FetchOptions(
        arguments: ArgumentParser(flags: FetchOptions.flags).parse(["--events", "-w", "x", "http://h/"]))
    }
  }
}
