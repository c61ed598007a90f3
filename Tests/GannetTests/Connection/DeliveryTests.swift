import Gannet
import GannetSockets
import TestSupport
import Testing

/// What a delegate is told, and in which order (docs/CONTRACT.md).
@Suite struct DeliveryTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String { name }
    var name: String
    var url = "http://h/"
    var answers: [Answer]
    var lines: [String]
  }

  static let rows: [Row] = [
    Row(name: "length", answers: [.ok("hello")], lines: ["response 200 length 5", "data hello", "finish"]),
    Row(name: "empty", answers: [.ok("")], lines: ["response 200 length 0", "finish"]),
    Row(
      name: "chunked with a trailer",
      answers: [
        Answer(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n")
      ],
      lines: ["response 200 length -1", "data abcde", "trailers X=y", "finish"]),
    Row(
      name: "until close", answers: [Answer("HTTP/1.0 200 OK\r\n\r\nabc", ending: .endOfFile)],
      lines: ["response 200 length -1", "data abc", "finish"]),
    Row(
      name: "404", answers: [.ok("no", status: "404 Not Found")],
      lines: ["response 404 length 2", "data no", "finish"]),
    Row(
      name: "informational first",
      answers: [
        Answer("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      ],
      lines: ["informational 103", "response 200 length 2", "data ok", "finish"]),
    Row(
      name: "204 with bytes", answers: [Answer("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")],
      lines: ["response 204 length 0", "finish"]),
    Row(
      name: "extra bytes", answers: [Answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokEXTRA")],
      lines: ["response 200 length 2", "data ok", "finish"]),
    Row(
      name: "canonical step", url: "HTTP://H:80", answers: [.ok("x")],
      lines: ["willSend GET http://h/", "response 200 length 1", "data x", "finish"]),
    Row(
      name: "redirect", url: "http://h/a",
      answers: [.ok("gone", status: "302 Found", "Location: b\r\n"), .ok("x")],
      lines: ["willSend GET http://h/b after 302", "response 200 length 1", "data x", "finish"]),
    Row(
      name: "no Location", answers: [.ok("body", status: "302 Found")],
      lines: ["response 302 length 4", "data body", "finish"]),
    Row(
      name: "parts",
      answers: [
        Answer(
          "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
            + "--B\r\nContent-Length: 3\r\n\r\nabc\r\n--B\r\n\r\nde\r\n--B--\r\nepilogue")
      ],
      lines: [
        "response 200 length -1", "response 200 length 3 part 0", "data abc", "partEnd",
        "response 200 length -1 part 1", "data de", "partEnd", "finish",
      ]),
    Row(
      name: "a part cut short",
      answers: [
        Answer(
          "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
            + "--B\r\nContent-Length: 9\r\n\r\nabc", ending: .endOfFile)
      ],
      lines: [
        "response 200 length -1", "response 200 length 9 part 0", "data abc",
        "fail networkConnectionLost receiving",
      ]),
    Row(
      name: "gzip", answers: [Answer(bytes: gzipAnswer)],
      lines: ["response 200 length -1", "data hello hello hello", "finish"]),
    Row(
      name: "gzip cut short", answers: [Answer(bytes: Array(gzipAnswer.dropLast(6)), ending: .endOfFile)],
      lines: ["response 200 length -1", "data hello hello hello", "fail networkConnectionLost receiving"]),
    Row(
      name: "not gzip at all", answers: [.ok("hello", "Content-Encoding: gzip\r\n")],
      lines: ["response 200 length -1", "fail cannotDecodeContentData receiving"]),
  ]

  /// "hello hello hello" as gzip.
  static let gzipBody: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57,
    0xc8, 0x40, 0x90, 0x00, 0x80, 0x88, 0xf9, 0xe5, 0x11, 0x00, 0x00, 0x00,
  ]
  static let gzipAnswer =
    Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzipBody.count)\r\n\r\n".utf8)
    + gzipBody

  @Test(arguments: rows)
  func theSameCallbacksAtEveryCut(_ row: Row) throws {
    let size = row.answers.map(\.bytes.count).max() ?? 0
    for cut in Cut.all(of: size) {
      let server = ScriptedServer([row.answers], cut: cut)
      let lines = try Loading.run(URLRequest(string: row.url), Loading.configuration(server))
      // What a coding holds when it is cut short depends on the cut; that it fails does not.
      if row.name == "gzip cut short" {
        #expect(lines.last == row.lines.last, "\(cut)")
      } else {
        #expect(lines == row.lines, "\(row.name), \(cut)")
      }
    }
  }

  /// As ffmpeg's server sends them unless told their type.
  @Test(arguments: [
    ("--B\r\n\r\nab\r\n--B--\r\n", true, ["response 200 length -1 part 0", "data ab", "partEnd", "finish"]),
    ("--B\r\n\r\nab\r\n--B--\r\n", false, ["data --B\r\n\r\nab\r\n--B--\r\n", "finish"]),
    ("ab\r\n--B\r\n", true, ["data ab\r\n--B\r\n", "finish"]),
    ("", true, ["finish"]),
  ])
  func partsWithoutTheirTypeAreSplitWhenAsked(_ body: String, _ isAsked: Bool, _ lines: [String]) throws {
    let answer = Answer(
      "HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n" + body, ending: .endOfFile)
    for cut in Cut.all(of: answer.bytes.count) {
      var configuration = Loading.configuration(ScriptedServer([[answer]], cut: cut))
      configuration.splitsUnlabelledStreams = isAsked
      let seen = try Loading.run(URLRequest(string: "http://h/"), configuration)
      #expect(seen == ["response 200 length -1"] + lines, "\(cut)")
    }
  }

  @Test(arguments: [false, true])
  func mixedPartsAreSplitWhenAsked(_ isAsked: Bool) throws {
    let body = "--a b\r\n\r\none\r\n--a b\r\nContent-Length: 3 bytes\r\n\r\ntwo\r\n--a b--\r\n"
    let answer = Answer(
      "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nContent-Type: multipart/mixed; boundary=\"a b\"\r\n\r\n"
        + body)
    let parts = [
      "response 200 length -1 part 0", "data one", "partEnd", "response 200 length 3 part 1", "data two",
      "partEnd",
    ]
    for cut in Cut.all(of: answer.bytes.count) {
      var configuration = Loading.configuration(ScriptedServer([[answer]], cut: cut))
      configuration.splitsMixedStreams = isAsked
      let seen = try Loading.run(URLRequest(string: "http://h/"), configuration)
      #expect(
        seen == ["response 200 length \(body.utf8.count)"] + (isAsked ? parts : ["data \(body)"]) + [
          "finish"
        ],
        "\(cut)")
    }
  }

  @Test(arguments: [1, 9, 70, 4000])
  func aWrongLengthOfAStreamIsNotLookedAtWhenAsked(_ length: Int) throws {
    let answer = Answer(
      "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
        + "--B\r\n\r\none\r\n--B\r\n\r\ntwo\r\n--B\r\n", ending: .endOfFile)
    for (cut, isAsked) in Cut.all(of: answer.bytes.count).flatMap({ [($0, true), ($0, false)] }) {
      var configuration = Loading.configuration(ScriptedServer([[answer]], cut: cut))
      configuration.ignoresStreamLengths = isAsked
      let seen = try Loading.run(URLRequest(string: "http://h/"), configuration)
      if isAsked {
        #expect(
          seen == [
            "response 200 length -1", "response 200 length -1 part 0", "data one", "partEnd",
            "response 200 length -1 part 1", "data two", "partEnd", "finish",
          ], "\(cut)")
      } else {
        #expect(seen.first == "response 200 length \(length)", "\(cut)")
        let isShort = length > 29
        #expect(seen.last == (isShort ? "fail networkConnectionLost receiving" : "finish"), "\(cut)")
      }
    }
  }

  @Test(arguments: [
    ("--B\r\n\r\none\r\n--B--\r\n", true), ("\r\n--B\r\n\r\none\r\n--B--\r\n", true),
    ("\n--B\n\none\n--B\n", true),
    ("B\r\n--B\r\n\r\none\r\n--B--", false),
  ])
  func chunksThatDoNotComeAreTakenWhenAsked(_ body: String, _ isTaken: Bool) throws {
    let answer = Answer(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
        + body, ending: .endOfFile)
    for (cut, isAsked) in Cut.all(of: answer.bytes.count).flatMap({ [($0, true), ($0, false)] }) {
      var configuration = Loading.configuration(ScriptedServer([[answer]], cut: cut))
      configuration.acceptsUnchunkedStreams = isAsked
      let seen = try Loading.run(URLRequest(string: "http://h/"), configuration)
      #expect(seen.first == "response 200 length -1")
      if isAsked, isTaken {
        #expect(
          seen.dropFirst() == ["response 200 length -1 part 0", "data one", "partEnd", "finish"], "\(cut)")
      } else {
        #expect(seen.last == "fail badServerResponse receiving", "\(cut)")
      }
    }
  }

  @Test(arguments: [
    "nonsense", "/relative", "foo://x", "http:///path", "http://", "ftp://h/", "http://h:99999/",
    "http://h/\n", "",
    "mailto:a@b",
  ])
  func whatCannotBeLoadedGivesNoConnection(_ url: String) async throws {
    let request = URLRequest(string: url)
    #expect(!URLConnection.canHandle(request))
    #expect(URLConnection(request: request, delegate: nil) == nil)
    await #expect(throws: ConnectionError.self) { try await URLConnection.data(for: request) }
  }

  @Test(arguments: [
    ("X: a\r\nEvil", "v"), ("Bad Name", "v"), ("X", "a\r\nEvil: b"), ("X", "a\u{0}b"), ("", "v"),
  ])
  func fieldsThatWouldBreakTheRequestAreRefusedBeforeAByteIsSent(_ name: String, _ value: String) throws {
    var request = URLRequest(string: "http://h/")
    request.addValue(value, forHTTPHeaderField: name)
    let server = ScriptedServer([[.ok("x")]])
    let lines = try Loading.run(request, Loading.configuration(server))
    #expect(lines == ["fail badURL preparing"])
    #expect(server.requests.joined() == "")
  }

  @Test func aRequestIsSentInItsOrder() throws {
    var request = URLRequest(string: "http://h:8080/p?q#f")
    request.httpMethod = "POST"
    request.addValue("1", forHTTPHeaderField: "X-First")
    request.addValue("mine", forHTTPHeaderField: "user-agent")
    request.httpBody = Data("x=1".utf8)
    let server = ScriptedServer([[.ok("")]])
    let lines = try Loading.run(request, Loading.configuration(server))
    #expect(lines == ["sent 3/3", "response 200 length 0", "finish"])
    #expect(
      server.requests == [
        "POST /p?q HTTP/1.1\r\nHost: h:8080\r\nX-First: 1\r\nuser-agent: mine\r\nAccept: */*\r\n"
          + "Accept-Encoding: gzip, deflate\r\nContent-Length: 3\r\n\r\nx=1"
      ])
  }

  @Test func aChangeOfTheRequestAfterwardsHasNoEffect() throws {
    var request = URLRequest(string: "http://h/a")
    let server = ScriptedServer([[.ok("x")]])
    let loop = try EventLoop()
    let log = CallbackLog()
    let connection = URLConnection(
      request: request, delegate: log, configuration: Loading.configuration(server), on: .loop(loop.handle))
    request.httpMethod = "DELETE"
    request.addValue("1", forHTTPHeaderField: "X")
    loop.run()
    #expect(server.requests[0].hasPrefix("GET /a HTTP/1.1\r\n"))
    #expect(connection?.originalRequest.httpMethod == "GET")
    loop.shutDown()
  }

  @Test func connectionsShareADelegateAndAreKeys() throws {
    let server = ScriptedServer([[.ok("a")], [.ok("b")]])
    let loop = try EventLoop()
    let log = CallbackLog()
    var names: [URLConnection: String] = [:]
    for tag in ["one", "two"] {
      let connection = try #require(
        URLConnection(
          request: URLRequest(string: "http://h/\(tag)"), delegate: log, tag: tag,
          configuration: Loading.configuration(server), on: .loop(loop.handle)))
      names[connection] = connection.tag
    }
    var finished: [String] = []
    log.onCallback = { word, connection in if word == "finish" { finished.append(names[connection] ?? "?") } }
    loop.run()
    #expect(finished.sorted() == ["one", "two"])
    loop.shutDown()
  }

  @Test func successiveLoadsUseOneConnection() throws {
    let server = ScriptedServer([[.ok("a"), .ok("b"), .ok("c")]])
    let loop = try EventLoop()
    for path in ["a", "b", "c"] {
      let log = CallbackLog()
      _ = URLConnection(
        request: URLRequest(string: "http://h/\(path)"), delegate: log,
        configuration: Loading.configuration(server), on: .loop(loop.handle))
      loop.run()
      #expect(log.finished().last == "finish")
    }
    #expect(server.peers.count == 1)
    loop.shutDown()
    #expect(server.peers[0].isClosed)
  }

  @Test func aConnectionCarriesNoMoreExchangesThanItsServerSays() throws {
    let last = Answer.ok("x", "Keep-Alive: timeout=5, max=2\r\n")
    let server = ScriptedServer([[last, last, last], [last]])
    let loop = try EventLoop()
    for _ in 0..<3 {
      let log = CallbackLog()
      _ = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: log, configuration: Loading.configuration(server),
        on: .loop(loop.handle))
      loop.run()
      #expect(log.finished().last == "finish")
    }
    #expect(server.peers.count == 2)
    loop.shutDown()
  }

  @Test func eachLoadOfARequestSendsWhatItIsThen() throws {
    var request = URLRequest(string: "http://h/a")
    let server = ScriptedServer([[.ok("1"), .ok("2"), .ok("3"), .ok("4")]])
    let loop = try EventLoop()
    var heads: [String] = []
    for step in 0..<4 {
      if step == 2 { request.setValue("y", forHTTPHeaderField: "X") }
      if step == 3 { request.url = URL(string: "http://h/b") }
      let before = server.requests.joined().count
      _ = URLConnection(
        request: request, delegate: CallbackLog(), configuration: Loading.configuration(server),
        on: .loop(loop.handle))
      loop.run()
      heads.append(String(server.requests.joined().dropFirst(before)))
    }
    #expect(heads[0] == heads[1])
    #expect(heads[0].hasPrefix("GET /a HTTP/1.1\r\nHost: h\r\nUser-Agent: "))
    #expect(heads[2].hasPrefix("GET /a HTTP/1.1\r\nHost: h\r\nX: y\r\n"))
    #expect(heads[3].hasPrefix("GET /b HTTP/1.1\r\nHost: h\r\nX: y\r\n"))
    loop.shutDown()
  }
}
