/// What `gannet URL…` was asked to do.
package struct FetchOptions: Hashable, Sendable {
  /// A change to the request's fields, from one `-H`.
  package enum FieldEdit: Hashable, Sendable {
    /// `Name: value`, or `Name;` for an empty value.
    case set(name: String, value: String)
    /// `Name:`: what would be sent by itself is left out.
    case remove(name: String)
    /// `@FILE`: a file of lines of the other forms.
    case file(String)
  }

  /// A piece of the body, from one `-d`.
  package enum DataPiece: Hashable, Sendable {
    case text(String)
    /// `@FILE`, `-` for standard input; without its line ends and NULs, as in curl.
    case file(String)
  }

  /// What standard output shows.
  package enum Events: Hashable, Sendable { case none, callbacks, callbacksWithBodies }

  /// The user of `-u`; nil password: it is asked for.
  package struct Login: Hashable, Sendable {
    package let user: String
    package let password: String?
  }

  package var urls: [String] = []
  /// One for each URL, in order; `-` is standard output.
  package var outputs: [String] = []
  package var method: String?
  package var fieldEdits: [FieldEdit] = []
  package var data: [DataPiece] = []
  package var showsHeadOnly = false
  package var login: Login?
  package var skipsVerification = false
  package var authorityFile: String?
  package var maxTime: Duration?
  package var connectTimeout: Duration?
  package var failsOnStatus = false
  package var followsRedirects = true
  package var isVerbose = false
  /// No progress, and no messages about the loads either unless `showsErrors`.
  package var isSilent = false
  package var showsErrors = false
  package var partsDirectory: String?
  package var events = Events.none
  package var recordFile: String?
  package var recordsSecrets = false
  package var unixSocket: String?
  /// A recording that is loaded again, its server played in memory.
  package var replayFile: String?
  /// The body that the recorded load had.
  var recordedBody: [UInt8]?

  package static let flags: [Flag] = [
    Flag("output", "o", .required), Flag("request", "X", .required), Flag("header", "H", .required),
    Flag("data", "d", .required), Flag("head", "I"), Flag("user", "u", .required), Flag("insecure", "k"),
    Flag("cacert", nil, .required), Flag("max-time", "m", .required),
    Flag("connect-timeout", nil, .required), Flag("fail", "f"), Flag("no-redirect"), Flag("location", "L"),
    Flag("verbose", "v"), Flag("silent", "s"), Flag("show-error", "S"),
    Flag("parts", nil, .required), Flag("events", nil, .optional), Flag("record", nil, .required),
    Flag("record-secrets"), Flag("replay", nil, .required), Flag("unix-socket", nil, .required),
  ]

  package init() {}

  /// Reads a command line that is not one of the other commands'.
  package init(arguments: [Argument]) throws(ArgumentError) {
    for argument in arguments {
      switch argument {
      case .operand(let url): urls.append(url)
      case .flag(let name, let value): try take(name, value ?? "")
      }
    }
    try check()
  }

  /// Whether each load has a file of its own, so that all can run at once.
  package var hasFileForEach: Bool {
    outputs.count >= urls.count && !outputs.prefix(urls.count).contains("-")
  }

  /// Whether failed loads are complained of.
  package var saysErrors: Bool { !isSilent || showsErrors }

  /// The method to send: `-X`, else what the other flags ask for.
  package var effectiveMethod: String { method ?? (showsHeadOnly ? "HEAD" : data.isEmpty ? "GET" : "POST") }

  private mutating func take(_ name: String, _ value: String) throws(ArgumentError) {
    switch name {
    case "output": outputs.append(value)
    case "request": method = value
    case "header": fieldEdits.append(try FieldEdit(value))
    case "data": data.append(value.hasPrefix("@") ? .file(String(value.dropFirst())) : .text(value))
    case "head": showsHeadOnly = true
    case "user": login = Login(value)
    case "insecure": skipsVerification = true
    case "cacert": authorityFile = value
    case "max-time": maxTime = try limit(value, of: name)
    case "connect-timeout": connectTimeout = try limit(value, of: name)
    case "fail": failsOnStatus = true
    case "no-redirect": followsRedirects = false
    case "location": followsRedirects = true
    case "silent": isSilent = true
    case "show-error": showsErrors = true
    case "verbose": isVerbose = true
    case "parts": partsDirectory = value
    case "events": events = try Events(value)
    case "record": recordFile = value
    case "record-secrets": recordsSecrets = true
    case "replay": replayFile = value
    default: unixSocket = value
    }
  }

  private func check() throws(ArgumentError) {
    if replayFile != nil {
      guard urls.isEmpty else { throw ArgumentError("--replay loads what was recorded: it takes no URL") }
    } else if urls.isEmpty {
      throw ArgumentError("no URL given")
    }
    let count = replayFile == nil ? urls.count : 1
    guard outputs.count <= count else {
      throw ArgumentError("\(outputs.count) output files for \(count) URL\(count == 1 ? "" : "s")")
    }
    if showsHeadOnly, !data.isEmpty {
      throw ArgumentError("-I asks for a HEAD request and -d for a POST: choose one")
    }
    if recordFile != nil, urls.count > 1 { throw ArgumentError("--record takes one URL: a file is one load") }
    if recordFile == "-", events != .none || outputs.isEmpty || outputs.contains("-") {
      throw ArgumentError(
        "--record - would write to standard output among other things: give -o FILE for the body")
    }
    if recordsSecrets, recordFile == nil { throw ArgumentError("--record-secrets needs --record FILE") }
    if let method, method.isEmpty { throw ArgumentError("-X needs a method") }
    if events != .none, outputs.contains("-") {
      throw ArgumentError("--events and -o - would both write to standard output")
    }
  }

  /// Nil for 0, which sets no limit of its own.
  private func limit(_ text: String, of flag: String) throws(ArgumentError) -> Duration? {
    guard let seconds = Double(text), seconds.isFinite, seconds >= 0, seconds < 1e9 else {
      throw ArgumentError("--\(flag) takes a number of seconds, not \"\(text)\"")
    }
    return seconds == 0 ? nil : .seconds(seconds)
  }
}

extension FetchOptions.FieldEdit {
  /// Reads the value of `-H`, or a line of its file.
  init(_ text: String) throws(ArgumentError) {
    if text.hasPrefix("@") {
      self = .file(String(text.dropFirst()))
    } else if let colon = text.firstIndex(of: ":"), colon > text.startIndex {
      let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      let name = String(text[..<colon])
      self = value.isEmpty ? .remove(name: name) : .set(name: name, value: String(value))
    } else if text.hasSuffix(";"), text.utf8.count > 1 {
      self = .set(name: String(text.dropLast()), value: "")
    } else {
      throw ArgumentError("-H takes \"Name: value\", \"Name;\" or \"Name:\", not \"\(text)\"")
    }
  }
}

extension FetchOptions.Events {
  init(_ value: String) throws(ArgumentError) {
    switch value {
    case "": self = .callbacks
    case "body": self = .callbacksWithBodies
    default: throw ArgumentError("--events takes nothing or =body, not \"\(value)\"")
    }
  }
}

extension FetchOptions.Login {
  /// Reads `user:password` or `user`.
  package init(_ text: String) {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    user = String(halves[0])
    password = halves.count == 2 ? String(halves[1]) : nil
  }
}
