import GannetHTTP
import TestSupport
import Testing

@Suite("Request head")
struct RequestHeadTests {
  @Test("writes the line, the fields in order, the empty line")
  func writes() throws {
    let head = RequestHead(
      method: "GET", target: "/a?b=c",
      fields: ["Host": "example.com", "X-a": "", "x-A": "caf\u{E9}\t!"])
    var output = Array("before".utf8)
    try head.append(to: &output)
    #expect(
      String(decoding: output, as: UTF8.self)
        == "beforeGET /a?b=c HTTP/1.1\r\nHost: example.com\r\nX-a: \r\nx-A: caf\u{E9}\t!\r\n\r\n")
  }

  @Test("HTTP/1.0 for old devices")
  func old() throws {
    var output: [UInt8] = []
    try RequestHead(method: "GET", target: "/", fields: ["A": "b"], minorVersion: 0).append(to: &output)
    #expect(Bytes.text(output) == "GET / HTTP/1.0\r\nA: b\r\n\r\n")
    let writer = try RequestHeadWriter(method: "GET", target: "/", minorVersion: 0, reserving: 10)
    #expect(Bytes.text(writer.finish()) == "GET / HTTP/1.0\r\n\r\n")
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var method = "GET"
    var target = "/"
    var name = "X"
    var value = "x"
    let part: RequestError.Part
    let byte: UInt8?
    let offset: Int

    var testDescription: String { "\(method) \(target) \(name): \(value)".debugDescription }
  }

  @Test(
    "what would forge another message is refused before a byte is written",
    arguments: [
      Refused(method: "GET / HTTP/1.1\r\nX:", part: .method, byte: 0x20, offset: 3),
      Refused(method: "", part: .method, byte: nil, offset: 0),
      Refused(method: "G\u{E9}T", part: .method, byte: 0xC3, offset: 1),
      Refused(target: "", part: .target, byte: nil, offset: 0),
      Refused(target: "/a b", part: .target, byte: 0x20, offset: 2),
      Refused(target: "/a\r\nX: y", part: .target, byte: 0x0D, offset: 2),
      Refused(target: "/\u{0}", part: .target, byte: 0, offset: 1),
      Refused(target: "/\u{7F}", part: .target, byte: 0x7F, offset: 1),
      Refused(target: "/\u{E9}", part: .target, byte: 0xC3, offset: 1),
      Refused(name: "", part: .fieldName, byte: nil, offset: 0),
      Refused(name: "X y", part: .fieldName, byte: 0x20, offset: 1),
      Refused(name: "X:", part: .fieldName, byte: 0x3A, offset: 1),
      Refused(name: "X\r\nY", part: .fieldName, byte: 0x0D, offset: 1),
      Refused(value: "a\r\nB: c", part: .fieldValue, byte: 0x0D, offset: 1),
      Refused(value: "a\nB: c", part: .fieldValue, byte: 0x0A, offset: 1),
      Refused(value: "\u{0}", part: .fieldValue, byte: 0, offset: 0),
      Refused(value: "a\u{1B}", part: .fieldValue, byte: 0x1B, offset: 1),
      Refused(value: "a\u{7F}", part: .fieldValue, byte: 0x7F, offset: 1),
    ])
  func refuses(test: Refused) {
    let fields: FieldList = ["Host": "h", test.name: test.value]
    let head = RequestHead(method: test.method, target: test.target, fields: fields)
    var output: [UInt8] = [1]
    let error = #expect(throws: RequestError.self) { try head.append(to: &output) }
    #expect(error?.part == test.part && error?.byte == test.byte && error?.offset == test.offset)
    #expect(output == [1])
  }
}
