import FetchTool
import Foundation
import Gannet
import TestSupport
import Testing

/// `-F`, `--form-string`, `--data-binary` and `--json`.
@Suite("Fetch: forms and JSON")
struct FormTests {
  private typealias Part = FetchOptions.FormPart

  private static func options(_ words: [String]) throws -> FetchOptions {
    try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(["http://h/"] + words))
  }

  @Test(
    arguments: [
      ("a=b", .text("b"), nil, nil), ("a=", .text(""), nil, nil), ("a=b=c;d", .text("b=c;d"), nil, nil),
      ("a=b;type=text/x", .text("b"), "text/x", nil), ("a=@f", .file("f"), nil, nil),
      ("a=@f;type=text/x; charset=y;filename=n", .file("f"), "text/x; charset=y", "n"),
      ("a=@f;filename=\"x;type=\\\"y\\\\\";type=t", .file("f"), "t", "x;type=\"y\\"),
      ("a=@\"f;type=g\";type=t", .file("f;type=g"), "t", nil), ("a=<f", .contents(of: "f"), nil, nil),
      ("a=@-", .file("-"), nil, nil), ("a=@f;g", .file("f;g"), nil, nil),
      ("=x", .text("x"), nil, nil), ("a=\"b\"", .text("b"), nil, nil),
      ("a= <b> ", .text("<b> "), nil, nil), ("a=@ \"f\"; filename= \"n\";\ttype=t", .file("f"), "t", "n"),
      ("a=b; type", .text("b; type"), nil, nil),
    ] as [(String, FetchOptions.FormPart.Content, String?, String?)])
  func aPartIsRead(
    _ text: String, _ content: FetchOptions.FormPart.Content, _ type: String?, _ filename: String?
  ) throws {
    let part = try #require(try Self.options(["-F", text]).formParts.first)
    #expect(part.name == (text.hasPrefix("=") ? "" : "a"))
    #expect(part.content == content && part.type == type && part.filename == filename)
  }

  @Test func aStringIsTakenAsItIs() throws {
    let part = try #require(try Self.options(["--form-string", "a=@f;type=t"]).formParts.first)
    #expect(part.content == .text("@f;type=t") && part.type == nil)
  }

  @Test(arguments: [
    (["-F", "a"], "name=value"), (["--form-string", "a"], "name=value"), (["-F", "a=@"], "no name"),
    (["-F", "a=@\"f"], "quotation marks"), (["-F", "a=@\"f\"x"], "quotation marks"),
    (["-F", "a=b", "-d", "x"], "choose one"), (["-F", "a=b", "-T", "f"], "choose one"),
    (["-F", "a=b", "-I"], "choose one"), (["-F", "a=@-", "-F", "b=<-"], "once"),
    (["-F", "a=@-", "-0"], "HTTP/1.0"),
    (["-F", "a=@-", "--reconnect"], "-F a file"), (["-F", "a=b", "--record", "f"], "not with -F"),
  ])
  func saysWhatIsWrong(_ words: [String], _ part: String) {
    let error = #expect(throws: ArgumentError.self) { try Self.options(words) }
    #expect(error?.sentence.contains(part) == true, "\(error?.sentence ?? "")")
  }

  /// What the parts are made of, and the flags make of them on the wire.
  @Test func aFormIsSent() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/gannet-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("of the disk\n".utf8).write(to: URL(filePath: folder + "/a.PNG"))
    let path = folder + "/a.PNG"
    let request = try Self.request([
      "-F", "f=@\(path)", "-F", "g=<\(path)", "-F", "h=@\(path);filename=x.txt", "-F",
      "i=text;filename=x.pdf",
      "-F", "j=@\(path);filename=x", "-F", "k=text;filename=x",
    ])
    #expect(request.httpMethod == "POST")
    let server = ScriptedServer([[.ok("done")]])
    #expect(try Loading.run(request, Loading.configuration(server)).last == "finish")
    let boundary = try #require(
      request.value(forHTTPHeaderField: "Content-Type")?.components(separatedBy: "boundary=").last)
    let body = server.requests[0].replacingOccurrences(of: boundary, with: "B")
    let parts = [
      "name=\"f\"; filename=\"a.PNG\"\r\nContent-Type: image/png\r\n\r\nof the disk\n",
      "name=\"g\"\r\n\r\nof the disk\n",
      "name=\"h\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nof the disk\n",
      "name=\"i\"; filename=\"x.pdf\"\r\nContent-Type: application/pdf\r\n\r\ntext",
      "name=\"j\"; filename=\"x\"\r\nContent-Type: image/png\r\n\r\nof the disk\n",
      "name=\"k\"; filename=\"x\"\r\n\r\ntext",
    ]
    let sent = parts.map { "--B\r\nContent-Disposition: form-data; \($0)\r\n" }.joined()
    #expect(body.hasSuffix("\r\n\r\n\(sent)--B--\r\n"))
    #expect(server.requests[0].contains("Content-Length: "))
  }

  @Test func aFileOfAFormHasToBeThere() throws {
    let error = #expect(throws: ToolError.self) { try Self.request(["-F", "a=@/nowhere/at/all"]) }
    #expect(error?.code == .cannotRead)
    #expect(error?.sentence.contains("/nowhere/at/all") == true)
  }

  private static func request(_ words: [String]) throws -> URLRequest {
    let options = try options(words)
    return try options.request(for: options.urls[0], body: options.readBody())
  }

  @Test func dataAndJSON() throws {
    let file = FileManager.default.temporaryDirectory.path + "/gannet-\(UUID())"
    try Data("a\r\n\0b".utf8).write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    func body(_ words: [String]) throws -> String {
      String(decoding: try Self.request(words).httpBody ?? Data(), as: UTF8.self)
    }
    #expect(try body(["-d", "@" + file]) == "ab")
    #expect(try body(["--data-binary", "@" + file]) == "a\r\n\0b")
    #expect(try body(["--data-binary", "x\n", "-d", "y"]) == "x\n&y")
    #expect(try body(["--json", "{\"a\":", "--json", "1}"]) == "{\"a\":1}")
    #expect(try body(["--json", "@" + file]) == "a\r\n\0b")

    let request = try Self.request(["--json", "{}"])
    #expect(request.httpMethod == "POST")
    #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
    #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
    let other = try Self.request(["--json", "{}", "-H", "content-type: a/b", "-H", "Accept:"])
    #expect(other.value(forHTTPHeaderField: "Content-Type") == "a/b")
    #expect(other.value(forHTTPHeaderField: "Accept") == nil)
    let form = try Self.request(["--data-binary", "x"])
    #expect(form.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
  }
}
