/// What a command line of curl asks for, as far as it is one plain request: made by a reader of our own, for the cases
/// in which nothing else is asked for.
public struct CurlCommand {
  /// Why a command line is not one plain request: the flag or the kind of URL.
  public struct Unfit: Error {
    /// For a person.
    public let reason: String
  }

  /// Where a body comes from.
  public enum Body: Equatable {
    /// Its bytes are known.
    case bytes([UInt8])
    /// It is read from standard input, so its length is not known.
    case input([UInt8])
  }

  /// The method, or nil for GET.
  public private(set) var method: String?
  /// The URL, with a scheme.
  public private(set) var url = ""
  /// Field lines in the form of `-H`.
  public private(set) var lines: [String] = []
  /// The body, or nil.
  public private(set) var body: Body?
  /// Whether it is to be sent as HTTP/1.0.
  public private(set) var isHTTP10 = false

  /// Whether redirects are followed.
  public private(set) var followsRedirects = false
  /// How many redirects are followed at most.
  public private(set) var maximumRedirects = 50

  /// The parts of a form, as `-F` has them, and whether the text stands for itself, as `--form-string` has it.
  public private(set) var formParts: [(text: String, isLiteral: Bool)] = []
  /// The login of `-u`.
  public private(set) var login: String?
  /// Whether the login is kept until the server asks for it; else it goes out at once.
  public private(set) var waitsForChallenge = false

  private var postsForm = false
  private var isJSON = false
  private var getsForm = false
  private var form: [UInt8] = []
  private var hasForm = false

  /// Flags that mean nothing here: where output goes, and how it looks.
  private static let ignored: Set<String> = [
    "-i", "--include", "--show-headers", "-s", "-sS", "-S", "--silent", "--show-error", "--no-progress-meter",
    "-#", "-O", "-J",
    "-4", "--ipv4", "-f", "--fail", "--fail-with-body", "--path-as-is",
  ]
  private static let ignoredWithValue: Set<String> = [
    "-D", "--dump-header", "-o", "--output", "-w", "--write-out", "--output-dir", "--expect100-timeout",
    "--max-time", "-m",
  ]

  /// Reads the case's command, its placeholders replaced by `replace`.
  public init(_ row: CurlCase, replace: (String) -> String) throws(Unfit) {
    var words = Self.words(replace(row.command))[...]
    let file = row.file.map { Bytes.latin1($0) }
    let input = row.standardInput.map { Bytes.latin1($0) }
    while let word = words.popFirst() {
      func value() throws(Unfit) -> String {
        guard let value = words.popFirst() else { throw Unfit(reason: word) }
        return value
      }
      switch word {
      case _ where Self.ignored.contains(word): break
      case _ where Self.ignoredWithValue.contains(word): _ = try value()
      case "-X": method = try value()
      case "-I", "--head": method = "HEAD"
      case "-G": getsForm = true
      case "-0", "--http1.0": isHTTP10 = true
      case "-H", "--header": lines.append(try value())
      case "-L", "--location", "--follow": followsRedirects = true
      case "--max-redirs":
        guard let count = Int(try value()) else { throw Unfit(reason: word) }
        maximumRedirects = count
      case "-A": lines.append("User-Agent: " + (try value()))
      case "-e", "--referer": lines.append("Referer: " + (try value()))
      case "-r":
        let range = try value()
        lines.append("Range: bytes=" + (range.contains("-") ? range : range + "-"))
      case "-d", "--data", "--data-binary":
        try append(try value(), keepsLines: word == "--data-binary", file, input)
      case "--json":
        try append(try value(), keepsLines: true, file, input)
        postsForm = false
        isJSON = true
      case "-F", "--form": formParts.append((try value(), false))
      case "--form-string": formParts.append((try value(), true))
      case "-u", "--user": login = try value()
      case "--anyauth": waitsForChallenge = true
      case "-T", "--upload-file":
        method = method ?? "PUT"
        let name = try value()
        if name == "-" || name == "." { body = .input(input ?? []) } else { body = .bytes(file ?? []) }
        if name.contains("{") || name.contains("[") { throw Unfit(reason: "several files") }
      case _ where word.hasPrefix("-"): throw Unfit(reason: word)
      default:
        guard url.isEmpty else { throw Unfit(reason: "several URLs") }
        url = word
      }
    }
    try finish()
  }

  private mutating func append(_ value: String, keepsLines: Bool, _ file: [UInt8]?, _ input: [UInt8]?)
    throws(Unfit)
  {
    if hasForm { form.append(UInt8(ascii: "&")) }
    hasForm = true
    postsForm = true
    guard value.hasPrefix("@") else { return form += Bytes.latin1(value) }
    let bytes = (value == "@-" ? input : file) ?? []
    form += keepsLines ? bytes : bytes.filter { $0 != 0 && $0 != 10 && $0 != 13 }
  }

  private mutating func finish() throws(Unfit) {
    if !url.contains("://") { url = "http://" + url }
    guard url.hasPrefix("http://") else { throw Unfit(reason: "another scheme") }
    if url.contains(where: { "{}[]\\".contains($0) }) { throw Unfit(reason: "several URLs") }
    if url.contains("@") { throw Unfit(reason: "a login") }
    // A URL without a file name gets that of the file.
    if case .bytes = body, url.hasSuffix("/") { throw Unfit(reason: "a name from a file") }
    if lines.contains(where: { $0.hasPrefix("@") }) { throw Unfit(reason: "fields from a file") }
    if !formParts.isEmpty { method = method ?? "POST" }
    guard hasForm else { return }
    if getsForm {
      url += (url.contains("?") ? "&" : "?") + Bytes.text(form)
      return
    }
    body = .bytes(form)
    method = method ?? "POST"
    if postsForm { addUnlessGiven("Content-Type: application/x-www-form-urlencoded") }
    if isJSON {
      addUnlessGiven("Content-Type: application/json")
      addUnlessGiven("Accept: application/json")
    }
  }

  private mutating func addUnlessGiven(_ line: String) {
    let name = line.prefix { $0 != ":" }.lowercased()
    if !lines.contains(where: { $0.lowercased().hasPrefix(name + ":") }) { lines.append(line) }
  }

  /// The words of a line, as a shell reads them: quotes and backslashes, nothing else.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in line {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}
