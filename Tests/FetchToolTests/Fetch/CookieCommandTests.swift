import FetchTool
import Foundation
import Gannet
import TestSupport
import Testing

@Suite("Fetch: cookies")
struct CookieCommandTests {
  /// What each request sent as `Cookie`, of the loads that went into a recording; none is "-".
  private static func sent(_ trial: FetchTrial, _ recording: String) throws -> [String] {
    let text = try #require(trial.contents(recording))
    return text.components(separatedBy: "GET /").dropFirst().map { request in
      let head = request.components(separatedBy: "\r\n\r\n")[0]
      return head.components(separatedBy: "\r\nCookie: ").dropFirst().first?.components(separatedBy: "\r\n")[
        0] ?? "-"
    }
  }

  private static let answer =
    "HTTP/1.1 200 OK\r\nSet-Cookie: s=1; Max-Age=60; Path=/; HttpOnly\r\nSet-Cookie: t=2\r\nContent-Length: 1\r\n\r\nx"

  @Test func cookiesAreWrittenAndReadAgain() throws {
    let trial = try FetchTrial()
    let url = try trial.serve(Self.answer)
    let (jar, out) = (trial.folder + "/jar", ["-o", trial.folder + "/out"])
    let recording = ["--record", trial.folder + "/r", "--record-secrets"]
    // A file that is not there yet has no cookies.
    #expect(try trial.fetch([url, "-b", jar, "-c", jar] + out + recording) == .finished)
    #expect(try Self.sent(trial, "r") == ["-"])
    let text = try #require(trial.contents("jar"))
    let lines = text.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
    #expect(lines[0] == ["# Netscape HTTP Cookie File"])
    #expect(lines[2][0] == "#HttpOnly_127.0.0.1" && lines[2][1...3] == ["FALSE", "/", "FALSE"])
    #expect(try #require(Double(lines[2][4])) > Date().timeIntervalSince1970 + 30)
    #expect(lines[2][5...] == ["s", "1"])
    #expect(lines[3] == ["127.0.0.1", "FALSE", "/", "FALSE", "0", "t", "2"])
    #expect(try trial.fetch([url, "-b", jar] + out + recording) == .finished)
    #expect(try Self.sent(trial, "r") == ["s=1; t=2"])
    // With others of the command line, which are not written.
    #expect(try trial.fetch([url, "-b", jar, "-b", "a=b; c=d=e", "-c", jar] + out + recording) == .finished)
    #expect(try Self.sent(trial, "r") == ["s=1; t=2; a=b; c=d=e"])
    #expect(try #require(trial.contents("jar")).contains("\ta\t") == false)
  }

  @Test func cookiesOfTheCommandLineAreSentAsTheyStand() throws {
    let trial = try FetchTrial()
    let url = try trial.serve(Self.answer)
    let rest = ["-o", trial.folder + "/out", "--record", trial.folder + "/r", "--record-secrets"]
    let table: [([String], String)] = [
      ([], "-"), (["-b", "a=b;c"], "a=b;c"), (["--cookie", "a=b", "-b", "c=d"], "a=b; c=d"),
      (["-b", ""], "-"),
      (["-b", "a=b", "-H", "Cookie: h=1"], "h=1"), (["-b", "a=b", "-H", "Cookie:"], "-"),
      (["-b", "a=b", "-b", ""], "a=b"),
    ]
    for (words, sent) in table {
      #expect(try trial.fetch([url] + words + rest) == .finished)
      #expect(try Self.sent(trial, "r") == [sent], "\(words)")
    }
  }

  /// Without a flag that asks for them none are kept; with one, for all URLs of the command.
  @Test func whenCookiesAreKept() throws {
    let url = "http://h.test/"
    for (words, isKept) in [
      ([], false), (["-b", "a=b"], false), (["-b", ""], true), (["-c", "/dev/null"], true),
    ] {
      let options = try FetchOptions(
        arguments: ArgumentParser(flags: FetchOptions.flags).parse([url] + words))
      #expect(try (options.cookieStorage() != nil) == isKept)
    }
    let words = [url, "https://o.test:81/p", "-b", "", "-b", "a=b"]
    let options = try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    let storage = try #require(try options.cookieStorage())
    for (place, count) in [
      (url, 1), ("https://o.test:81/", 1), ("http://h.test:81/", 0), ("http://o.test:81/", 0),
      ("http://x.h.test/", 0),
    ] {
      let place = try #require(URL(string: place))
      #expect(storage.cookies(for: place)?.count == count, "\(place)")
    }
  }

  @Test func whatCannotBeReadOrWritten() throws {
    let trial = try FetchTrial()
    let url = try trial.serve(Self.answer)
    let out = ["-s", "-o", trial.folder + "/out"]
    try Data("# comment\n\nh.test\tTRUE\n".utf8).write(to: URL(filePath: trial.folder + "/bad"))
    #expect(try trial.fetch([url, "-b", trial.folder + "/bad"] + out) == .cannotRead)
    #expect(try trial.fetch([url, "-b", trial.folder] + out) == .cannotRead)
    #expect(try trial.fetch([url, "-c", trial.folder + "/none/jar"] + out) == .cannotWrite)
    for words in [["-c", ""], ["-c", "-", "--events"]] {
      #expect(throws: ArgumentError.self) { try trial.fetch([url] + words) }
    }
  }

  @Test(arguments: [
    ("h.test\tFALSE\t/\tFALSE\t0\tn\tv", "n=v h.test / session"),
    ("h.test\tTRUE\t/p\tTRUE\t2000000000\tn\tv", "n=v .h.test /p secure 2000000000"),
    (".h.test\ttrue\t/\tFALSE\t0\tn\t", "n= .h.test / session"),
    (".h.test\tFALSE\t/\tFALSE\t0\tn", "n= h.test / session"),
    ("#HttpOnly_.h.test\tTRUE\t/\tFALSE\t0\tn\tv\r", "n=v .h.test / session http"), ("# h\n \t \n\n", ""),
    ("\n#\nh\t\t", "line 3: 3 fields that tabs part, not 7"), ("x", "line 1: 1 field that tabs part, not 7"),
    ("h\tTRUE\t/\tFALSE\tsoon\tn\tv", "line 1: the fifth field is no number of seconds: \"soon\""),
    ("h\tTRUE\t/\tFALSE\t0\tn\tv\u{1}", "line 1: what it says cannot be a cookie"),
    ("\tTRUE\t/\tFALSE\t0\tn\tv", "line 1: what it says cannot be a cookie"),
  ])
  func lines(_ text: String, _ expected: String) {
    let read: String
    do throws(CookieFile.Failure) {
      read = try CookieFile.parse(Array(text.utf8)).map { cookie in
        "\(cookie.name)=\(cookie.value) \(cookie.domain) \(cookie.path)" + (cookie.isSecure ? " secure" : "")
          + (cookie.expiresDate.map { " \(Int64($0.timeIntervalSince1970))" } ?? " session")
          + (cookie.isHTTPOnly ? " http" : "")
      }.joined(separator: "\n")
    } catch { read = "line \(error.line): \(error.reason)" }
    #expect(read == expected)
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    let table: [[HTTPCookiePropertyKey: Any]] = [
      [.name: "n", .value: "v=\"x\", y", .domain: "h.test", .path: "/"],
      [.name: "", .value: "é", .domain: ".h.test", .path: "/p", .secure: true, .httpOnly: true],
      [.name: "n", .value: "", .domain: "h.test", .path: "/", .expires: Date(timeIntervalSince1970: 2e9)],
    ]
    let cookies = try table.map { try #require(HTTPCookie(properties: $0)) }
    #expect(try CookieFile.parse(Array(CookieFile.text(of: cookies).utf8)) == cookies)
    let tab = try #require(HTTPCookie(properties: [.name: "n", .value: "a\tb", .domain: "h", .path: "/"]))
    let far = try #require(
      HTTPCookie(properties: [.name: "n", .value: "", .domain: "h", .path: "/", .expires: Date.distantFuture])
    )
    let never = try #require(
      HTTPCookie(properties: [
        .name: "n", .value: "", .domain: "h", .path: "/", .expires: Date(timeIntervalSince1970: .infinity),
      ]))
    let text = CookieFile.text(of: [tab, far, never])
    #expect(
      text.split(separator: "\n").dropFirst(2).map { $0.split(separator: "\t").dropFirst(4).first } == [
        "64092211200", "9223372036854775807",
      ])
  }
}
