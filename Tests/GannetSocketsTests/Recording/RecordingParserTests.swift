import GannetSockets
import Testing

@Suite("Recording: the .wire format")
struct RecordingParserTests {
  static let whole = """
    gannet-wire 1
    # made by hand
    load POST http://user:pw@127.0.0.1:8080/a b
    field X-Empty:
    field Cookie: a=b; c=d
    body 5
    h
    lo!
    answer credentials user:pa:ss
    answer refuse-redirect
    # between
    connection 1 http 127.0.0.1:8080
    > 1 +0.000000 4
    GET

    < 1 +1.000412 3
    a
    b
    connection 2 https [::1]:443 via unix /run/x y
    < 1 +12 eof
    < 2 +0.5 reset

    """

  @Test func readsEveryStatement() throws {
    let recording = try RecordingParser.parse(Array(Self.whole.utf8))
    #expect(recording.load.method == "POST")
    #expect(recording.load.url == "http://user:pw@127.0.0.1:8080/a b")
    #expect(recording.load.fields.map(\.name) == ["X-Empty", "Cookie"])
    #expect(recording.load.fields.map(\.value) == ["", "a=b; c=d"])
    #expect(recording.load.body == Array("h\nlo!".utf8))
    #expect(
      recording.load.answers.map { Recording.Answer($0) } == [
        .credentials(user: "user", password: "pa:ss"), .refuseRedirect,
      ])
    #expect(
      recording.connections == [
        .init(number: 1, scheme: "http", host: "127.0.0.1", port: 8080),
        .init(number: 2, scheme: "https", host: "::1", port: 443, via: "unix /run/x y"),
      ])
    #expect(recording.records.map(\.connection) == [1, 1, 1, 2])
    #expect(recording.records.map(\.microseconds) == [0, 1_000_412, 12_000_000, 500_000])
    #expect(
      recording.records.map(\.event) == [
        .sent(Array("GET\n".utf8)), .received(Array("a\nb".utf8)), .endOfFile, .reset,
      ])
  }

  @Test func isWrittenAsItWasRead() throws {
    let recording = try RecordingParser.parse(Array(Self.whole.utf8))
    let written = RecordingWriter.file(of: recording, comments: ["again"])
    #expect(try RecordingParser.parse(written) == recording)
  }

  static let head = "gannet-wire 1\nload GET http://a/\n"
  static let open = head + "connection 1 http a:80\n"

  @Test(arguments: [
    ("", 1, 0, "does not begin"),
    ("gannet-wire 2\n", 1, 0, "does not begin"),
    ("gannet-wire 1", 1, 0, "no line feed"),
    ("gannet-wire 1\r\n", 1, 0, "CR LF"),
    ("gannet-wire 1\n# only\n", 3, 21, "ends before its load"),
    ("gannet-wire 1\nload GET\n", 2, 14, "load METHOD URL"),
    (head + "load GET http://b/\n", 3, 33, "second"),
    (head + "feild a: b\n", 3, 33, "none of"),
    (head + "\n", 3, 33, "none of"),
    (head + "field a\n", 3, 33, "field Name: value"),
    (head + "body x\n", 3, 33, "not a length"),
    (head + "body 3\nab\n", 3, 33, "the file has 3 more"),
    (head + "body 1\nab\n", 3, 33, "the length is wrong"),
    (head + "answer\n", 3, 33, "answer WHAT"),
    (head + "connection 1 ftp a:21\n", 3, 33, "http or https"),
    (head + "connection 1 http a\n", 3, 33, "HOST:PORT"),
    (head + "connection 1 http a:65536\n", 3, 33, "HOST:PORT"),
    (head + "connection 1 http a:80 over x\n", 3, 33, "via"),
    (open + "connection 1 http a:80\n", 4, 56, "twice"),
    (open + "field a: b\n", 4, 56, "before the first connection"),
    (head + "> 1 +0 3\nabc\n", 3, 33, "no connection line"),
    (open + "> 1 0 3\nabc\n", 4, 56, "a record is"),
    (open + "> 1 +0. 3\nabc\n", 4, 56, "a record is"),
    (open + "> 1 +99999999999999999 3\nabc\n", 4, 56, "a record is"),
    (open + "> 1 +0 eof\n", 4, 56, "not a length"),
    (open + "> 1 +0 -1\n", 4, 56, "not a length"),
    (open + "> 1 +0 99999999999999999999\n", 4, 56, "not a length"),
    (open + "< 1 +0 9223372036854775807\nab\n", 4, 56, "should follow"),
    (open + "< 1 +0 eof\n< 1 +0 1\na\n", 5, 67, "has ended"),
    (open + "< 1 +0 3\n\n\n\n\n< 1 +0 1\n", 9, 69, "should follow"),
  ])
  func saysWhatIsWrong(_ text: String, _ line: Int, _ offset: Int, _ reason: String) {
    let error = #expect(throws: RecordingError.self) { try RecordingParser.parse(Array(text.utf8)) }
    #expect(error?.line == line)
    #expect(error?.offset == offset)
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func everyPrefixIsAnErrorOrAShorterRecording() {
    let bytes = Array(Self.whole.utf8)
    for end in bytes.indices { _ = try? RecordingParser.parse(Array(bytes[..<end])) }
  }
}
