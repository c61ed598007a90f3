import FetchTool
import Foundation
import Gannet
import GannetHTTP
import TestSupport
import Testing

/// Loads of curl's own tests: those whose command line is one plain request over `http`. What is sent is compared with
/// what curl sends, and what becomes of the answer with what curl makes of it, at several cuts.
@Suite("vectors: loads of curl's tests", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct CurlLoadVectorTests {
  private static let host = "127.0.0.1:8990"

  @Test("one plain request")
  func loads() throws {
    var tally = Conformance("curl-tests/curl-http, loads", differences: Self.differences)
    for row in try CurlCase.all() where row.otherProtocol == nil && !row.isProgram && !row.hasEnvironment {
      let answers = row.answers
      let isAboutAnswers = ["0", "22", "1", "8", "18", "52", "56", "61"].contains(row.exitCode)
      guard isAboutAnswers, answers.count == 1, answers[0].key == "data", let requests = row.requests,
        !row.usesOtherServers, !Bytes.text(answers[0].bytes).contains("%repeat["),
        !answers[0].bytes.isEmpty || row.exitCode == "52"
      else { continue }
      let replace = Self.replacing(row.id)
      guard let command = try? CurlCommand(row, replace: replace), !command.followsRedirects,
        command.login == nil, command.formParts.isEmpty
      else { continue }
      tally.note(row.id, try Self.difference(row, command, answers[0].bytes, Self.shape(replace(requests))))
    }
    tally.finish(rows: 98)
  }

  /// Forms, and logins by the Basic scheme: those that curl sends at once and those that it keeps until it is asked.
  @Test("forms and logins")
  func formsAndLogins() throws {
    var tally = Conformance("curl-tests/curl-http, forms and logins", differences: Self.formDifferences)
    let folder = FileManager.default.temporaryDirectory.path + "/gannet-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for row in try CurlCase.all() where row.otherProtocol == nil && !row.isProgram && !row.hasEnvironment {
      let plain = Self.replacing(row.id)
      let replace = { @Sendable (text: String) in plain(text).replacing("%LOGDIR", with: folder) }
      guard let requests = row.requests, !row.usesOtherServers,
        let command = try? CurlCommand(row, replace: replace),
        command.login != nil || !command.formParts.isEmpty
      else { continue }
      if let file = row.file, let path = row.filePath.map(replace) {
        try Data(Bytes.latin1(file)).write(to: URL(filePath: path))
      }
      let wanted = Self.shapes(replace(requests))
      if wanted.contains(where: { $0.contains("Authorization: Digest") || $0.contains("Authorization: NTLM") }
      ) {
        continue
      }
      tally.note(row.id, try Self.difference(row, command, wanted, replace))
    }
    tally.finish(rows: 15)
  }

  private static func difference(
    _ row: CurlCase, _ command: CurlCommand, _ answer: [UInt8], _ wanted: String
  ) throws -> String? {
    let head = answer.count < 2 ? 0 : answer.count / 2
    for cut in [Cut.whole, .everyByte, .at(head)] where cut != .at(0) {
      let server = ScriptedServer([[Answer(bytes: answer, ending: .endOfFile)]], cut: cut)
      let log = CallbackLog()
      // Without -L curl follows no redirect.
      log.answer = { request, response in response == nil ? request : nil }
      let lines = try Loading.run(Self.request(command), Loading.configuration(server), log)
      let sent = Self.shape(server.requests.joined())
      if sent != wanted { return "\(cut): sent \(sent.debugDescription), not \(wanted.debugDescription)" }
      let isRefused = !["0", "22"].contains(row.exitCode)
      let hasFinished = lines.last == "finish"
      if isRefused == hasFinished { return "\(cut): \(lines)" }
    }
    return nil
  }

  /// Loads that follow redirects, all of whose requests are compared.
  @Test("redirects")
  func redirects() throws {
    var tally = Conformance("curl-tests/curl-http, redirects", differences: Self.redirectDifferences)
    for row in try CurlCase.all() where row.otherProtocol == nil && !row.isProgram && !row.hasEnvironment {
      let replace = Self.replacing(row.id)
      guard let requests = row.requests, !row.usesOtherServers,
        let command = try? CurlCommand(row, replace: replace), command.followsRedirects,
        command.login == nil, command.formParts.isEmpty
      else { continue }
      tally.note(row.id, try Self.difference(row, command, Self.shapes(replace(requests)), replace))
    }
    tally.finish(rows: 23)
  }

  private static func difference(
    _ row: CurlCase, _ command: CurlCommand, _ wanted: [String], _ replace: @escaping (String) -> String
  ) throws -> String? {
    let answers = Dictionary(row.answers.map { ($0.key, $0.bytes) }) { first, _ in first }
    for cut in [Cut.whole, .everyByte] {
      let server = ScriptedServer([], cut: cut)
      var bounced: Int?
      server.choose = { request in
        // The server of curl's tests answers by the number at the end of the path, and counts on where it is told to.
        let target = request.split(separator: " ").dropFirst().first ?? ""
        let digits = target.split(separator: "/").last?.prefix { $0.isNumber } ?? ""
        let part = bounced.map { $0 + 1 } ?? Int(digits).map { $0 > 10_000 ? $0 % 10_000 : 0 } ?? 0
        guard let bytes = answers[part == 0 ? "data" : "data\(part)"] else { return nil }
        let text = replace(Bytes.text(bytes))
        bounced = text.contains("swsbounce") ? part : nil
        let isLast = text.contains("swsclose") || text.contains("Connection: close")
        return Answer(bytes: Bytes.latin1(text), ending: isLast ? .endOfFile : nil)
      }
      var configuration = Loading.configuration(server)
      configuration.maximumRedirects = command.maximumRedirects
      let log = CallbackLog()
      // Without -L curl follows no redirect.
      if !command.followsRedirects { log.answer = { request, response in response == nil ? request : nil } }
      log.challengeAnswer = { challenge in
        challenge.sender?.use(challenge.previousFailureCount == 0 ? command.credential : nil, for: challenge)
      }
      // What was read from standard input cannot be read again.
      if case .input = command.body { log.newBody = { _ in nil } }
      var request = Self.request(command)
      let boundary = Boundary(of: wanted.first ?? "")
      do { try addForm(command, boundary.whole, to: &request) } catch { return "\(error)" }
      let lines = try Loading.run(request, configuration, log)
      let sent = shapes(boundary.shortening(server.requests.joined()))
      if sent != wanted { return "\(cut): sent \(sent), not \(wanted)" }
      let isRefused = !["0", "22"].contains(row.exitCode)
      if isRefused == (lines.last == "finish") { return "\(cut): \(lines)" }
    }
    return nil
  }

  /// The shapes of requests that follow each other, each with its body as its head frames it.
  private static func shapes(_ requests: String) -> [String] {
    var shapes: [String] = []
    var rest = requests[...]
    while let end = rest.firstRange(of: "\r\n\r\n")?.upperBound {
      let head = rest[..<end].lowercased()
      var count =
        head.firstRange(of: "content-length: ").flatMap { range in
          Int(head[range.upperBound...].prefix { $0.isNumber })
        } ?? 0
      if head.contains("transfer-encoding: chunked"), let last = rest[end...].firstRange(of: "0\r\n\r\n") {
        count = rest.distance(from: end, to: last.upperBound)
      }
      let next = rest.index(end, offsetBy: count, limitedBy: rest.endIndex) ?? rest.endIndex
      shapes.append(shape(String(rest[..<next])))
      rest = rest[next...]
    }
    return shapes
  }

  /// The boundary of a form, which curl's tests have cut short after they have counted it.
  private struct Boundary {
    private let short: String
    let whole: String

    init(of request: String) {
      let value = request.firstRange(of: "boundary=").map { request[$0.upperBound...].prefix { $0 != "\n" } }
      short = value.map(String.init) ?? "none"
      whole = short + String(repeating: "x", count: max(0, 46 - short.count))
    }

    func shortening(_ requests: String) -> String { requests.replacing(whole, with: short) }
  }

  /// The form that the tool makes of curl's flags, with the boundary that curl has sent; and a login that does not wait.
  private static func addForm(
    _ command: CurlCommand, _ boundary: String, to own: inout URLRequest
  ) throws {
    if !command.waitsForChallenge, let login = command.login {
      let token = Data(login.utf8).base64EncodedString()
      own.setValue("Basic \(token)", forHTTPHeaderField: "Authorization")
    }
    guard !command.formParts.isEmpty else { return }
    var options = FetchOptions()
    options.formParts = try command.formParts.map { part in
      try part.isLiteral ? FetchOptions.FormPart(literal: part.text) : FetchOptions.FormPart(part.text)
    }
    own.setForm(try options.form(MultipartForm(boundary: boundary)))
  }

  private static func request(_ command: CurlCommand) -> URLRequest {
    var request = URLRequest(string: command.url)
    request.httpMethod = command.method
    request.timeoutInterval = 5
    if command.isHTTP10 { request.httpVersion = .http10 }
    for line in command.lines {
      let name = String(line.prefix { $0 != ":" && $0 != ";" })
      let rest = line.dropFirst(name.count)
      let value = rest.dropFirst().trimmingPrefix { $0 == " " }
      if rest.first == ":" && value.isEmpty {
        request.omittedFields.insert(name.lowercased())
      } else {
        request.addValue(String(value), forHTTPHeaderField: name)
      }
    }
    // With these fields a caller of curl says how the body is framed; here its kind says so.
    let isChunked = request.value(forHTTPHeaderField: "Transfer-Encoding") == "chunked"
    let length = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
    switch command.body {
    case .bytes(let bytes) where !isChunked: request.httpBody = Data(bytes)
    case .bytes(let bytes), .input(let bytes):
      request.body = .stream(length: length) {
        AsyncStream { stream in
          stream.yield(Data(bytes))
          stream.finish()
        }
      }
    case nil: break
    }
    return request
  }

  private static func replacing(_ id: String) -> @Sendable (String) -> String {
    { text in
      text.replacing("%HOSTIP:%HTTPPORT", with: host).replacing("%HTTPPORT", with: "8990")
        .replacing("%TESTNUMBER", with: id.dropFirst(4))
    }
  }

  /// A request without what clients decide each for themselves: the order of fields after `Host`, the fields that name
  /// the client, its codings, and whether it waits for 100 unasked.
  private static func shape(_ request: String) -> String {
    guard let end = request.firstRange(of: "\r\n\r\n") else { return request }
    let lines = request[..<end.lowerBound].split(separator: "\r\n").map(String.init)
    let fields = lines.dropFirst().filter { line in
      !["user-agent:", "accept-encoding:", "expect:"].contains { line.lowercased().hasPrefix($0) }
    }
    // curl puts no blank before a value that is empty.
    let trimmed = fields.map { $0.hasSuffix(": ") ? String($0.dropLast()) : $0 }
    let ordered = trimmed.prefix(1) + trimmed.dropFirst().sorted()
    return ([lines[0]] + ordered).joined(separator: "\n") + "\n\n" + request[end.upperBound...]
  }

  private static let formDifferences: [(reason: String, ids: [String])] = [
    ("the type of a form is multipart/form-data", ["test277"]),
    (
      "several files in one part are a multipart/mixed, which RFC 7578 section 4.3 has given up",
      ["test1158", "test1315"]
    ),
  ]

  private static let redirectDifferences: [(reason: String, ids: [String])] = [
    ("a blank in a query is sent as %20, not +", ["test40"]),
    ("dot segments are removed (RFC 3986 section 5.2.4)", ["test391"]),
    ("302 changes no method but POST (RFC 9110 section 15.4.3)", ["test794"]),
  ]

  private static let differences: [(reason: String, ids: [String])] = [
    ("a later HTTP/1.x is read as 1.1 (RFC 9110 section 2.5)", ["test129"]),
    ("Host cannot be left out of a request (RFC 9112 section 3.2)", ["test461"]),
    ("two Location fields are the redirect's matter, not the head's", ["test772"]),
    ("a chunk's lines end with CRLF only (CVE-2025-22871)", ["test1116", "test1417", "test1677"]),
    (
      "a final coding that is not chunked ends with the connection (RFC 9112 section 6.3)",
      ["test1723", "test2119"]
    ),
  ]
}

extension CurlCommand {
  /// The login as a delegate gives it.
  fileprivate var credential: URLCredential? {
    guard let halves = login?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) else {
      return nil
    }
    let password = halves.count == 2 ? String(halves[1]) : ""
    return URLCredential(user: String(halves[0]), password: password, persistence: .none)
  }
}
