import GannetSockets
import Testing

@Suite("Recording: masking and gathering while a load runs")
struct RecordingWriterTests {
  @Test(arguments: [
    ("Authorization: Basic dTpw", "Authorization: Basic ****", true),
    ("proxy-authorization:Digest a=\"b\", c=d", "proxy-authorization:Digest **********", true),
    ("Authorization: token", "Authorization: *****", true),
    (
      "Authentication-Info: qop=auth, RspAuth=\"0a1b\", nextnonce=\"n\"",
      "Authentication-Info: qop=auth, RspAuth=\"****\", nextnonce=\"n\"", true
    ),
    ("Proxy-Authentication-Info: rspauth = 0a1b", "Proxy-Authentication-Info: rspauth = ****", true),
    ("Cookie: a=b; cc=dd;e", "Cookie: a=*; cc=**;*", true),
    ("Set-Cookie: id=12=3; Path=/; HttpOnly", "Set-Cookie: id=****; Path=/; HttpOnly", true),
    ("Set-Cookie: bare; Path=/", "Set-Cookie: ****; Path=/", true),
    ("Location: https://u:pa@ss@h:1/x@y", "Location: https://u:*****@h:1/x@y", false),
    ("Location: https://h:8080/a:b@c", "Location: https://h:8080/a:b@c", false),
    ("GET http://u:p@h/ HTTP/1.1", "GET http://u:*@h/ HTTP/1.1", false),
    ("X-Cookie: a=b", "X-Cookie: a=b", false),
  ])
  func masksALine(_ line: String, _ masked: String, _ goesOn: Bool) {
    var bytes = Array(line.utf8)
    #expect(SecretMask.mask(headLine: &bytes, isContinuation: false) == goesOn)
    #expect(String(decoding: bytes, as: UTF8.self) == masked)
  }

  @Test func showsAPersonNoLengths() {
    var continues = false
    let lines = [
      "Cookie: a=bcdef; g=h", " i=jk", "Accept: */*",
      "Authorization: Digest username*=UTF-8''a%20b, realm=\"a * b\", nc=00000001",
    ].map {
      SecretMask.veiled(headLine: Array($0.utf8), isContinuation: &continues)
    }
    #expect(
      lines == ["Cookie: a=***; g=***", " ***", "Accept: */*", "Authorization: Digest ***"])
  }

  static let request =
    "POST /a HTTP/1.1\r\nHost: h\r\nAuthorization: Basic dTpw\r\nContent-Length: 14\r\n\r\nCookie: a=bcd\n"
  static let response =
    "HTTP/1.1 103 Early\r\nSet-Cookie: a=1\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: b=22;\r\n x=y\r\n"
    + "Content-Length: 17\r\n\r\nSet-Cookie: c=333"

  /// What is written when the client's bytes come in pieces cut at `sentCut`, the server's at `receivedCut`.
  func write(sentCut: Int, receivedCut: Int, keepsSecrets: Bool = false) throws -> Recording {
    var load = Recording.Load(method: "POST", url: "http://u:pw@h/a")
    load.fields = [.init(name: "Cookie", value: "q=rr")]
    load.answers = [Recording.Answer.credentials(user: "u", password: "pw").text]
    var writer = RecordingWriter(load, comments: ["c"], keepsSecrets: keepsSecrets)
    writer.opened(.init(number: 1, scheme: "http", host: "h", port: 80))
    var file: [UInt8] = []
    for _ in 0..<2 {
      for piece in pieces(Self.request, sentCut) { writer.sent(piece.span, on: 1, at: 5) }
      for piece in pieces(Self.response, receivedCut) {
        writer.received(piece.span, on: 1, at: 7)
        file += writer.takeOutput()
      }
    }
    writer.ended(byReset: false, on: 1, at: 9)
    writer.finish()
    return try RecordingParser.parse(file + writer.takeOutput())
  }

  func pieces(_ text: String, _ cut: Int) -> [[UInt8]] {
    let bytes = Array(text.utf8)
    if cut < 0 { return bytes.map { [$0] } }
    return [Array(bytes[..<cut]), Array(bytes[cut...])].filter { !$0.isEmpty }
  }

  func received(_ recording: Recording) -> String {
    recording.records.reduce(into: "") {
      if case .received(let bytes) = $1.event { $0 += String(decoding: bytes, as: UTF8.self) }
    }
  }

  @Test func masksHeadsOnlyAtEveryCut() throws {
    let request = Self.request.replacing("dTpw", with: "****")
    let response = Self.response.replacing("a=1", with: "a=*").replacing("b=22", with: "b=**")
      .replacing("x=y", with: "***")
    let cuts = [-1] + Array(0...Self.response.utf8.count)
    for cut in cuts {
      let recording = try write(sentCut: min(cut, Self.request.utf8.count), receivedCut: cut)
      let sent = recording.records.compactMap { record -> String? in
        guard case .sent(let bytes) = record.event else { return nil }
        return String(decoding: bytes, as: UTF8.self)
      }
      #expect(sent == [request, request], "cut \(cut)")
      #expect(received(recording) == response + response, "cut \(cut)")
      #expect(recording.records.last?.event == .endOfFile)
    }
    let recording = try write(sentCut: 0, receivedCut: 0)
    #expect(recording.load.url == "http://u:**@h/a")
    #expect(recording.load.fields == [.init(name: "Cookie", value: "q=**")])
    #expect(recording.load.answers == ["credentials u:**"])
  }

  @Test func keepsSecretsWhenAsked() throws {
    let recording = try write(sentCut: 9, receivedCut: 30, keepsSecrets: true)
    #expect(received(recording) == Self.response + Self.response)
    #expect(recording.load.url == "http://u:pw@h/a")
    #expect(recording.records.count == 7)
  }

  @Test func writesWhatCannotChangeAtOnce() {
    var writer = RecordingWriter(.init(method: "GET", url: "http://h/"))
    writer.opened(.init(number: 1, scheme: "http", host: "h", port: 80))
    _ = writer.takeOutput()
    writer.sent(Array("GET / HTTP/1.1\r\n".utf8).span, on: 1, at: 0)
    #expect(writer.takeOutput().isEmpty)
    writer.sent(Array("\r\n".utf8).span, on: 1, at: 0)
    #expect(String(decoding: writer.takeOutput(), as: UTF8.self).hasPrefix("> 1 +0.000000 18\n"))
    writer.received(Array("HTTP/1.1 200 OK\r\nA: b".utf8).span, on: 1, at: 1)
    #expect(writer.takeOutput().isEmpty)
    writer.received(Array("\r\n\r\nbody without line end".utf8).span, on: 1, at: 1)
    #expect(!writer.takeOutput().isEmpty)
  }
}
