/// A case of curl's own tests: what the server answers, what curl is told to do, what it must send and say.
public struct CurlCase {
  /// Its name in the suite.
  public let id: String
  private let row: VectorFile.Row

  /// Every case of the file.
  public static func all() throws -> [CurlCase] {
    try VectorFile.rows("curl-tests/curl-http.jsonl").map { CurlCase(id: $0.id, row: $0) }
  }

  /// A server's answer: its key, `data` or `connect` with a number, and its bytes.
  public struct Answer {
    /// `data` or `connect`, with a number.
    public let key: String
    /// Its bytes.
    public let bytes: [UInt8]
  }

  /// Why the case is none of HTTP/1.x over one connection, or nil when it is.
  public var otherProtocol: String? {
    let servers = row["servers"]?.array?.compactMap(\.string) ?? []
    // Their answers are FTP's or mail's, whatever proxy is on the way.
    let known = ["http", "https", "socks"]
    if servers.isEmpty || servers.contains(where: { name in !known.contains { name.hasPrefix($0) } }) {
      return "other protocols"
    }
    let features = row["features"]?.array?.compactMap(\.string) ?? []
    if features.contains("ws") || command.contains("ws://") { return "WebSockets" }
    return nil
  }

  /// Whether another server than one of plain http takes part.
  public var usesOtherServers: Bool { row["servers"]?.array?.compactMap(\.string) != ["http"] }
  /// Whether it is a program against the library, not a command line.
  public var isProgram: Bool { row.has("tool") }
  /// The command line.
  public var command: String { text("client", "command") ?? "" }
  /// What the command reads from standard input, or nil.
  public var standardInput: String? { text("client", "stdin") }
  /// The file that is there before the command runs, or nil.
  public var file: String? { text("client", "file") }
  /// Its path.
  public var filePath: String? { row["client"]?["file"]?["attrs"]?["name"]?.string }
  /// Whether the command depends on variables of the environment.
  public var hasEnvironment: Bool { row["client"]?["setenv"] != nil }
  /// What the server is told to do besides answering.
  public var serverCommand: String { text("reply", "servercmd") ?? "" }
  /// The exit code.
  public var exitCode: String {
    text("verify", "errorcode") ?? row["verify"]?["errorcode"]?.int.map(String.init) ?? "0"
  }
  /// The exact requests, or nil when they are not checked.
  public var requests: String? { text("verify", "protocol") }

  /// The answers, by key.
  public var answers: [Answer] {
    (row["reply"]?.keys ?? []).sorted().compactMap { key in
      let word = key.prefix { $0.isLetter }
      guard word == "data" || word == "connect", let text = text("reply", key) else { return nil }
      return Answer(key: key, bytes: Bytes.latin1(text))
    }
  }

  /// What the command prints, as far as it is one answer: its head, unless the test does not want it, and its body.
  public var output: String? { text("reply", "datacheck") ?? text("reply", "data") }

  /// A text that stands there as it is or with attributes; nil when it is not text.
  private func text(_ section: String, _ key: String) -> String? {
    let value = row[section]?[key]
    return value?.string ?? value?["bytes"]?.string
  }
}
