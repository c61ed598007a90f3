import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// A download's callbacks, and what becomes of its file.
@Suite(.timeLimit(.minutes(1))) struct URLDownloadTests {
  /// Notes each callback as a line, adjacent lengths summed, and does what it is told in it.
  private final class Log: URLDownloadDelegate {
    private(set) var lines: [String] = []
    private(set) var error: ConnectionError?
    /// Bytes told since another callback.
    private(set) var length = 0
    var onCallback: (String, URLDownload) -> Void = { _, _ in }
    var decodes = true
    var follows = true
    var usesStorage = true
    var canAuthenticate = true
    var cancelsChallenges = false

    private func note(_ word: String, _ rest: String, _ download: URLDownload) {
      if length > 0, word != "length" { lines.append("length \(length)") }
      if word != "length" { length = 0 }
      if word != "length" { lines.append(rest.isEmpty ? word : "\(word) \(rest)") }
      onCallback(word, download)
    }

    func downloadDidBegin(_ download: URLDownload) { note("begin", "", download) }
    func download(_ download: URLDownload, willSend request: URLRequest, redirectResponse: URLResponse?)
      -> URLRequest?
    {
      note("willSend", request.url?.path ?? "", download)
      return follows ? request : nil
    }
    func downloadShouldUseCredentialStorage(_ download: URLDownload) -> Bool { usesStorage }
    func download(_ download: URLDownload, canAuthenticateAgainst protectionSpace: URLProtectionSpace) -> Bool
    {
      canAuthenticate
    }
    func download(_ download: URLDownload, didCancel challenge: URLAuthenticationChallenge) {
      note("cancelled", "", download)
    }
    func download(_ download: URLDownload, didReceive challenge: URLAuthenticationChallenge) {
      note("challenge", "\(challenge.previousFailureCount)", download)
      if cancelsChallenges {
        challenge.sender?.cancel(challenge)
        return
      }
      challenge.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: challenge)
    }
    func download(_ download: URLDownload, didReceive response: URLResponse) {
      note("response", "\(response.expectedContentLength)", download)
    }
    func download(_ download: URLDownload, decideDestinationWithSuggestedFilename filename: String) {
      note("decide", filename, download)
    }
    func download(_ download: URLDownload, didCreateDestination path: String) {
      note("create", String(path.split(separator: "/").last ?? ""), download)
    }
    func download(_ download: URLDownload, didReceiveDataOfLength length: Int) {
      self.length += length
      note("length", "", download)
    }
    func download(_ download: URLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String) -> Bool {
      note("decode", encodingType, download)
      return decodes
    }
    func downloadDidFinish(_ download: URLDownload) { note("finish", "", download) }
    func download(_ download: URLDownload, didFailWithError error: ConnectionError) {
      self.error = error
      note("fail", "\(error.code)", download)
    }
  }

  /// Runs a download to its end on a loop of its own, its destination decided as `file` in the folder.
  @discardableResult
  private static func run(
    _ answers: [Answer], _ log: Log, into folder: Folder?, allowOverwrite: Bool = true,
    url: String = "http://h/a/f.txt",
    cut: Cut = .whole, stored: URLCredential? = nil, _ prepare: (URLDownload) -> Void = { _ in }
  ) throws -> URLConnection.Configuration {
    let configuration = Loading.configuration(ScriptedServer([answers], cut: cut))
    if let stored {
      let space = URLProtectionSpace(
        host: "h", port: 80, protocol: "http", realm: "x", authenticationMethod: .httpBasic)
      configuration.credentialStorage.setDefaultCredential(stored, for: space)
    }
    let loop = try EventLoop()
    let act = log.onCallback
    log.onCallback = { word, download in
      if word == "decide", let folder {
        download.setDestination(folder.path + "/file.txt", allowOverwrite: allowOverwrite)
      }
      act(word, download)
    }
    let download = try #require(
      URLDownload(
        request: URLRequest(string: url, timeoutInterval: 5), delegate: log, startImmediately: false,
        configuration: configuration, on: .loop(loop.handle)))
    prepare(download)
    download.start()
    loop.run(until: .now + .seconds(10))
    loop.shutDown()
    log.onCallback = { _, _ in }
    return configuration
  }

  @Test func theCallbacksComeInOrder() throws {
    for cut in [Cut.whole, .everyByte] {
      let (log, folder) = (Log(), try Folder())
      try Self.run([.ok("hello")], log, into: folder, cut: cut)
      #expect(log.lines == ["begin", "response 5", "decide f.txt", "create file.txt", "length 5", "finish"])
      #expect(folder.bytes("file.txt") == Array("hello".utf8) && folder.names == ["file.txt"])
    }
  }

  /// What is told of the file is so when it is told.
  @Test func theFileIsAsItIsTold() throws {
    let (log, folder) = (Log(), try Folder())
    try folder.write("old", to: "file.txt")
    var finished: [String] = []
    log.onCallback = { word, _ in
      if word == "finish" { finished = folder.names.map { folder.text($0) ?? "" } }
      guard word == "length" else { return }
      let parts = folder.names.filter { $0 != "file.txt" }
      #expect(parts.map { folder.bytes($0)?.count } == [log.length])
      #expect(folder.text("file.txt") == "old")
    }
    try Self.run([.ok("hello")], log, into: folder, cut: .everyByte)
    #expect(finished == ["hello"])
  }

  @Test func aRefusedRedirectIsTheResponse() throws {
    let (log, folder) = (Log(), try Folder())
    log.follows = false
    try Self.run([.ok("moved", status: "302 Found", "Location: /b\r\n")], log, into: folder)
    #expect(log.lines.prefix(3) == ["begin", "willSend /b", "response 5"])
    #expect(log.lines.last == "finish" && folder.text("file.txt") == "moved")
  }

  @Test func theDelegateSaysWhoseCredentialsAreSent() throws {
    let asks = Answer.ok("no", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n")
    let folder = try Folder()
    let unable = Log()
    unable.canAuthenticate = false
    try Self.run([asks], unable, into: folder)
    #expect(unable.lines.prefix(2) == ["begin", "response 2"] && unable.lines.last == "finish")
    let credential = URLCredential(user: "s", password: "p", persistence: .forSession)
    for usesStorage in [true, false] {
      let log = Log()
      log.usesStorage = usesStorage
      try Self.run([asks, .ok("hello")], log, into: folder, stored: credential)
      #expect(log.lines.contains("challenge 0") == !usesStorage)
      #expect(log.lines.last == "finish" && folder.text("file.txt") == "hello")
    }
    let cancelling = Log()
    cancelling.cancelsChallenges = true
    try Self.run([asks], cancelling, into: folder)
    #expect(cancelling.lines == ["begin", "challenge 0", "cancelled", "fail userCancelledAuthentication"])
  }

  /// No number ends up in a folder's name, nor before a name that begins with a dot.
  @Test(arguments: [
    ("report.pdf", "report-1.pdf"), ("report", "report-1"), (".profile", ".profile-1"), ("a.b.c", "a.b-1.c"),
  ])
  func aNumberStandsBeforeTheExtension(_ name: String, _ numbered: String) throws {
    let (log, folder) = (Log(), try Folder())
    let inner = folder.path + "/in.folder"
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    try folder.write("old", to: "in.folder/" + name)
    try Self.run([.ok("hello")], log, into: nil) {
      $0.setDestination(inner + "/" + name, allowOverwrite: false)
    }
    #expect(log.lines.contains("create \(numbered)"))
    #expect(folder.text("in.folder/" + numbered) == "hello" && folder.text("in.folder/" + name) == "old")
  }

  @Test func redirectsAndChallengesAreTheDelegates() throws {
    let (log, folder) = (Log(), try Folder())
    try Self.run(
      [
        .ok("", status: "302 Found", "Location: /b\r\n"),
        .ok("no", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n"), .ok("hello"),
      ], log, into: folder)
    #expect(
      log.lines == [
        "begin", "willSend /b", "challenge 0", "response 5", "decide b", "create file.txt", "length 5",
        "finish",
      ])
    #expect(folder.bytes("file.txt") == Array("hello".utf8))
  }

  @Test func aDestinationThatIsKnownIsNotAskedFor() throws {
    let (log, folder) = (Log(), try Folder())
    try Self.run([.ok("hello")], log, into: nil) {
      $0.setDestination(folder.path + "/other", allowOverwrite: false)
    }
    #expect(log.lines == ["begin", "response 5", "create other", "length 5", "finish"])
  }

  @Test func whatIsThereIsReplacedOnlyWhenThatIsAllowed() throws {
    let folder = try Folder()
    try folder.write("old", to: "file.txt")
    let log = Log()
    try Self.run([.ok("new")], log, into: folder, allowOverwrite: false)
    try Self.run([.ok("newer")], Log(), into: folder, allowOverwrite: false)
    #expect(log.lines.contains("create file-1.txt"))
    #expect(folder.names == ["file-1.txt", "file-2.txt", "file.txt"])
    #expect(
      folder.bytes("file.txt") == Array("old".utf8) && folder.bytes("file-2.txt") == Array("newer".utf8))
    try Self.run([.ok("newest")], Log(), into: folder)
    #expect(folder.bytes("file.txt") == Array("newest".utf8))
  }

  @Test(arguments: [
    (String(repeating: "n", count: 255), String(repeating: "n", count: 253) + "-1"),
    (String(repeating: "n", count: 251) + ".txt", String(repeating: "n", count: 249) + "-1.txt"),
    ("a." + String(repeating: "e", count: 253), "a." + String(repeating: "e", count: 251) + "-1"),
    (String(repeating: "€", count: 84) + ".jp", String(repeating: "€", count: 83) + "-1.jp"),
    // One character.
    ("a" + String(repeating: "\u{301}", count: 127), "a" + String(repeating: "\u{301}", count: 126) + "-1"),
  ])
  func aNameThatIsTakenIsCutWhereTheNumberHasNoRoom(_ name: String, _ expected: String) throws {
    let folder = try Folder()
    try folder.write("old", to: name)
    try Self.run([.ok("new")], Log(), into: nil) {
      $0.setDestination(folder.path + "/" + name, allowOverwrite: false)
    }
    #expect(folder.text(expected) == "new" && folder.names.count == 2)
  }

  /// A name that begins with a mark makes one character of it and the slash before it: not of the file system's slash.
  @Test func aNameThatBeginsWithAMarkIsInItsFolderAllTheSame() throws {
    let (folder, name) = (try Folder(), "\u{301}x")
    for inner in ["in.d", "in-1.d"] {
      try FileManager.default.createDirectory(at: folder.url(inner), withIntermediateDirectories: false)
    }
    let path = folder.path + "/in.d/" + name
    try folder.write("old", to: "in.d/" + name)
    try Self.run([.ok("new")], Log(), into: nil) { $0.setDestination(path, allowOverwrite: false) }
    #expect(folder.text("in.d/" + name + "-1") == "new")
    let log = Log()
    log.onCallback = { word, _ in
      if word == "create" { #expect(folder.names == ["in-1.d", "in.d"]) }
    }
    try Self.run([.ok("newer")], log, into: nil) { $0.setDestination(path, allowOverwrite: true) }
    #expect(folder.text("in.d/" + name) == "newer" && log.lines.last == "finish")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/in-1.d") == [])
  }

  @Test(arguments: [true, false], [true, false])
  func aFailureRemovesWhatHasComeUnlessItIsToBeKept(_ deletes: Bool, _ allowOverwrite: Bool) throws {
    let (log, folder) = (Log(), try Folder())
    let answer = Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", ending: .endOfFile)
    try Self.run([answer], log, into: folder, allowOverwrite: allowOverwrite) {
      $0.deletesFileUponFailure = deletes
    }
    #expect(log.lines.suffix(2) == ["length 5", "fail networkConnectionLost"])
    #expect(folder.names == (deletes ? [] : ["file.txt"]))
    if !deletes { #expect(folder.bytes("file.txt") == Array("hello".utf8)) }
    // Removing is what happens when nothing is said.
    let other = try Folder()
    try Self.run([answer], Log(), into: other, allowOverwrite: allowOverwrite)
    #expect(other.names.isEmpty)
  }

  @Test func aCancelInAnyCallbackEndsItWithoutAFile() throws {
    let answers: [Answer] = [.ok("", status: "302 Found", "Location: /b\r\n"), .ok("hello")]
    let words = ["begin", "willSend", "response", "decide", "create", "length"]
    // Also where a failure would keep it.
    for (allowOverwrite, deletes) in [(true, true), (false, true), (true, false), (false, false)] {
      for (place, word) in words.enumerated() {
        let (log, folder) = (Log(), try Folder())
        log.onCallback = { now, download in if now == word { download.cancel() } }
        try Self.run(answers, log, into: folder, allowOverwrite: allowOverwrite) {
          $0.deletesFileUponFailure = deletes
        }
        #expect(log.lines.count == min(place + 1, 5), "\(word): \(log.lines)")
        #expect(folder.names.isEmpty, "\(word)")
      }
    }
  }

  @Test func aCancelAfterTheEndLeavesTheFile() throws {
    let (log, folder) = (Log(), try Folder())
    log.onCallback = { word, download in if word == "finish" { download.cancel() } }
    try Self.run([.ok("hello")], log, into: folder)
    #expect(log.lines.last == "finish" && folder.text("file.txt") == "hello")
  }

  @Test func aBodyMayBeKeptAsItCame() throws {
    let body = Deflate.stored(Array("hello".utf8))
    let answer = Answer(
      bytes: Array(
        "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    for decodes in [true, false] {
      let (log, folder) = (Log(), try Folder())
      log.decodes = decodes
      try Self.run([answer], log, into: folder)
      #expect(log.lines[1...2] == ["decode application/x-deflate", "response \(decodes ? -1 : body.count)"])
      #expect(folder.bytes("file.txt") == (decodes ? Array("hello".utf8) : body))
    }
  }

  /// Each coding that is undone is asked for by its name of old.
  @Test(
    arguments: [
      ("gzip", ["x-gzip"]), ("X-GZIP", ["x-gzip"]), ("deflate,\tgzip", ["x-deflate", "x-gzip"]), ("br", []),
      ("gzip\r\nContent-Encoding: deflate", ["x-gzip", "x-deflate"]), ("identity", []),
    ] as [(String, [String])])
  func codingsAreAskedForByTheirNames(_ coding: String, _ asked: [String]) throws {
    let (log, folder) = (Log(), try Folder())
    try Self.run([.ok("x", "Content-Encoding: \(coding)\r\n")], log, into: folder)
    #expect(log.lines.filter { $0.hasPrefix("decode ") } == asked.map { "decode application/\($0)" })
  }

  @Test func nothingIsStoredAndPartsStayTogether() throws {
    let folder = try Folder()
    let configuration = try Self.run(
      [.ok("hello", "Cache-Control: max-age=60\r\nETag: \"v\"\r\n")], Log(), into: folder)
    #expect(configuration.urlCache?.currentMemoryUsage == 0)
    let (log, parts) = (Log(), "--B\r\n\r\none\r\n--B\r\n\r\ntwo\r\n--B--\r\n")
    try Self.run(
      [.ok(parts, "Content-Type: multipart/x-mixed-replace;boundary=B\r\n")], log, into: folder)
    #expect(log.lines.count { $0.hasPrefix("response") } == 1 && log.lines.last == "finish")
    #expect(folder.text("file.txt") == parts)
  }

  /// A file's failure is the end, also of a load that would fail later.
  @Test func aFailureOfTheFileIsToldOnce() throws {
    let answer = Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", ending: .endOfFile)
    for (path, lines) in [
      ("/none/file", ["fail cannotCreateFile"]), ("/dev/full", ["create full", "fail cannotWriteToFile"]),
    ] {
      let (log, folder) = (Log(), try Folder())
      try Self.run([answer], log, into: nil, cut: .everyByte) {
        $0.setDestination(path == "/dev/full" ? path : folder.path + path, allowOverwrite: true)
      }
      #expect(log.lines == ["begin", "response 9"] + lines)
    }
  }

  @Test func aFileThatCannotBeGivenItsPlaceFailsTheDownload() throws {
    let (log, folder) = (Log(), try Folder())
    log.onCallback = { word, _ in
      guard word == "length" else { return }
      #expect(throws: Never.self) {
        try FileManager.default.createDirectory(
          atPath: folder.path + "/file.txt", withIntermediateDirectories: true)
      }
    }
    try Self.run([.ok("hello")], log, into: folder)
    #expect(log.lines.suffix(2) == ["length 5", "fail cannotMoveFile"])
    #expect(folder.names == ["file.txt"])
  }

  @Test func aFileThatCannotBeCreatedFailsTheDownload() throws {
    for allowOverwrite in [true, false] {
      let (log, folder) = (Log(), try Folder())
      try Self.run([.ok("hello")], log, into: nil) {
        $0.setDestination(folder.path + "/none/file", allowOverwrite: allowOverwrite)
      }
      #expect(log.lines == ["begin", "response 5", "fail cannotCreateFile"])
      #expect(log.error?.cause == .system(errno: 2) && log.error?.phase == .receiving)
    }
  }

  @Test func otherSchemesAreDownloadedAsWell() throws {
    let (log, folder) = (Log(), try Folder())
    try Self.run([], log, into: folder, url: "data:,hello")
    #expect(log.lines.first == "begin" && log.lines.suffix(2) == ["length 5", "finish"])
    #expect(folder.bytes("file.txt") == Array("hello".utf8))
  }

  @Test func withoutADestinationOrADelegateTheFileIsATemporaryOne() throws {
    var path: String?
    let log = Log()
    try Self.run([.ok("hello")], log, into: nil)
    path = log.lines.first { $0.hasPrefix("create ") }.map { String($0.dropFirst(7)) }
    let name = try #require(path)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    #expect(try Data(contentsOf: file) == Data("hello".utf8))
    try FileManager.default.removeItem(at: file)
  }

  @Test func theDelegateAndTheDownloadAreLetGo() throws {
    let folder = try Folder()
    weak var log: Log?
    weak var download: URLDownload?
    do {
      let delegate = Log()
      log = delegate
      try Self.run([.ok("hello")], delegate, into: folder) { download = $0 }
    }
    #expect(log == nil && download == nil)
    do {
      let idle = URLDownload(
        request: URLRequest(string: "http://h/"), delegate: Log(), startImmediately: false)
      download = idle
    }
    #expect(download == nil)
  }

  @Test func whatCannotBeLoadedGivesNoDownload() {
    #expect(URLDownload(request: URLRequest(string: "foo://x"), delegate: nil) == nil)
  }
}
