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

  /// A piece of the body, from one `-d`, `--data-binary` or `--json`.
  package enum DataPiece: Hashable, Sendable {
    case text(String)
    /// `@FILE`, `-` for standard input; without its line ends and NULs, as in curl.
    case file(String)
    /// `@FILE` of `--data-binary`: as it is.
    case binaryFile(String)
    /// What `--json` gives: it follows what is before it without a mark between, a file's contents as they are.
    case json(String)
    case jsonFile(String)

    var isJSON: Bool {
      switch self {
      case .json, .jsonFile: true
      case .text, .file, .binaryFile: false
      }
    }
  }

  /// What standard output shows.
  package enum Events: Hashable, Sendable { case none, callbacks, callbacksWithBodies }

  /// The format of `-w`.
  package enum WriteOut: Hashable, Sendable {
    case format(WriteOutFormat)
    /// `@FILE`, `-` for standard input.
    case file(String)
  }

  /// The user of `-u`; nil password: it is asked for.
  package struct Login: Hashable, Sendable {
    package let user: String
    package let password: String?
  }

  package var urls: [String] = []
  /// One for each URL, in order; `-` is standard output.
  package var outputs: [String] = []
  /// The places in `outputs` that take their name from the URL.
  private var remoteNamed: Set<Int> = []
  package var method: String?
  package var fieldEdits: [FieldEdit] = []
  package var data: [DataPiece] = []
  /// The parts of the form to send by POST.
  package var formParts: [FormPart] = []
  /// Files to send by PUT, one for each URL, in order; `-` is standard input.
  package var uploads: [String] = []
  package var expectTimeout: Duration?
  package var usesHTTP10 = false
  package var showsHeadOnly = false
  /// Heads go before the body, of each response that comes.
  package var includesHeads = false
  /// `-A`: empty leaves the field out.
  package var userAgent: String?
  /// What is printed after each load.
  package var writeOut: WriteOut?
  package var login: Login?
  /// What `-b` gives as text: `NAME=VALUE`, or several with `;` between.
  package var cookiePairs: [String] = []
  /// The files of `-b`; an empty name is none, and has cookies kept all the same.
  package var cookieFiles: [String] = []
  /// Where `-c` writes the cookies at the end; `-` is standard output.
  package var cookieJar: String?
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
  /// The file that the next complete part goes to.
  package var snapshotFile: String?
  /// How many complete parts end a load.
  package var maxParts: Int?
  /// Streams that end or fail are loaded again, after this wait the first time.
  package var firstReconnectWait: Duration?
  package var events = Events.none
  package var recordFile: String?
  package var recordsSecrets = false
  package var unixSocket: String?
  /// A recording that is loaded again, its server played in memory.
  package var replayFile: String?
  /// The body that the recorded load had.
  var recordedBody: [UInt8]?

  package static let flags: [Flag] = [
    Flag("output", "o", .required), Flag("remote-name", "O"), Flag("include", "i"),
    Flag("user-agent", "A", .required), Flag("write-out", "w", .required), Flag("request", "X", .required),
    Flag("header", "H", .required), Flag("data", "d", .required), Flag("data-binary", nil, .required),
    Flag("json", nil, .required), Flag("form", "F", .required), Flag("form-string", nil, .required),
    Flag("upload-file", "T", .required),
    Flag("expect100-timeout", nil, .required),
    Flag("http1.0", "0"), Flag("head", "I"), Flag("user", "u", .required),
    Flag("cookie", "b", .required), Flag("cookie-jar", "c", .required), Flag("insecure", "k"),
    Flag("cacert", nil, .required), Flag("max-time", "m", .required),
    Flag("connect-timeout", nil, .required), Flag("fail", "f"), Flag("no-redirect"), Flag("location", "L"),
    Flag("verbose", "v"), Flag("silent", "s"), Flag("show-error", "S"),
    Flag("parts", nil, .required), Flag("max-parts", nil, .required), Flag("snapshot", nil, .required),
    Flag("reconnect", nil, .optional), Flag("events", nil, .optional), Flag("record", nil, .required),
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

  /// The method to send: `-X`, else what the other flags ask for; `isUpload`: of a URL that has a `-T`.
  package func effectiveMethod(isUpload: Bool) -> String {
    method ?? (showsHeadOnly ? "HEAD" : isUpload ? "PUT" : data.isEmpty && formParts.isEmpty ? "GET" : "POST")
  }

  private mutating func take(_ name: String, _ value: String) throws(ArgumentError) {
    switch name {
    case "output": outputs.append(value)
    case "remote-name":
      remoteNamed.insert(outputs.count)
      outputs.append("")
    case "include": includesHeads = true
    case "user-agent": userAgent = value
    case "write-out":
      writeOut = value.hasPrefix("@") ? .file(String(value.dropFirst())) : .format(try WriteOutFormat(value))
    case "request": method = value
    case "header": fieldEdits.append(try FieldEdit(value))
    case "data": data.append(value.hasPrefix("@") ? .file(String(value.dropFirst())) : .text(value))
    case "data-binary":
      data.append(value.hasPrefix("@") ? .binaryFile(String(value.dropFirst())) : .text(value))
    case "json": data.append(value.hasPrefix("@") ? .jsonFile(String(value.dropFirst())) : .json(value))
    case "form": formParts.append(try FormPart(value))
    case "form-string": formParts.append(try FormPart(literal: value))
    case "upload-file": uploads.append(value)
    case "expect100-timeout": expectTimeout = try limit(value, of: name) ?? .zero
    case "http1.0": usesHTTP10 = true
    case "head": showsHeadOnly = true
    case "user": login = Login(value)
    case "cookie": if value.contains("=") { cookiePairs.append(value) } else { cookieFiles.append(value) }
    case "cookie-jar": cookieJar = value
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
    case "max-parts":
      guard let count = Int(value), count > 0 else {
        throw ArgumentError("--max-parts takes a number from 1, not \"\(value)\"")
      }
      maxParts = count
    case "snapshot": snapshotFile = value
    case "reconnect":
      firstReconnectWait = value.isEmpty ? .seconds(1) : try limit(value, of: name)
      if firstReconnectWait == nil {
        throw ArgumentError("--reconnect needs a wait that is longer than nothing")
      }
    case "events": events = try Events(value)
    case "record": recordFile = value
    case "record-secrets": recordsSecrets = true
    case "replay": replayFile = value
    default: unixSocket = value
    }
  }

  private mutating func check() throws(ArgumentError) {
    if replayFile != nil {
      guard urls.isEmpty else { throw ArgumentError("--replay loads what was recorded: it takes no URL") }
    } else if urls.isEmpty {
      throw ArgumentError("no URL given")
    }
    if let place = urls.firstIndex(of: "") {
      throw ArgumentError(
        "\(urls.count == 1 ? "the URL" : "URL \(place + 1)") is empty: a variable without a value, perhaps")
    }
    let count = replayFile == nil ? urls.count : 1
    guard outputs.count <= count else {
      throw ArgumentError("\(outputs.count) output files for \(count) URL\(count == 1 ? "" : "s")")
    }
    try nameOutputs()
    if showsHeadOnly, !data.isEmpty {
      throw ArgumentError("-I asks for a HEAD request and -d for a POST: choose one")
    }
    try checkForm()
    try checkUploads(of: count)
    if recordFile != nil, urls.count > 1 { throw ArgumentError("--record takes one URL: a file is one load") }
    if recordFile == "-", events != .none || outputs.isEmpty || outputs.contains("-") {
      throw ArgumentError(
        "--record - would write to standard output among other things: give -o FILE for the body")
    }
    try checkParts()
    if recordsSecrets, recordFile == nil { throw ArgumentError("--record-secrets needs --record FILE") }
    if let method, method.isEmpty { throw ArgumentError("-X needs a method") }
    if events != .none, outputs.contains("-") {
      throw ArgumentError("--events and -o - would both write to standard output")
    }
    if events != .none, cookieJar == "-" {
      throw ArgumentError("--events and -c - would both write to standard output")
    }
    if let cookieJar, cookieJar.isEmpty { throw ArgumentError("-c needs the name of a file") }
    if events != .none, writeOut != nil {
      throw ArgumentError("--events and -w would both write to standard output")
    }
  }

  /// Gives each `-O` the name that its URL ends with.
  private mutating func nameOutputs() throws(ArgumentError) {
    for place in remoteNamed {
      guard replayFile == nil else { throw ArgumentError("-O needs a URL: give --replay -o FILE") }
      guard let name = RemoteName.of(urls[place]) else {
        throw ArgumentError("-O: \(urlForMessage(urls[place])) ends with no name of a file: give -o FILE")
      }
      outputs[place] = name
    }
  }

  private func checkUploads(of count: Int) throws(ArgumentError) {
    guard !uploads.isEmpty else { return }
    guard uploads.count <= count else {
      throw ArgumentError("\(uploads.count) files to send for \(count) URL\(count == 1 ? "" : "s")")
    }
    guard data.isEmpty, !showsHeadOnly else {
      throw ArgumentError("-T asks for a PUT request, -d for a POST and -I for a HEAD: choose one")
    }
    if uploads.contains("-") {
      if usesHTTP10 {
        throw ArgumentError(
          "-T - sends a body of unknown length in chunks, which HTTP/1.0 (-0) does not have")
      }
      if recordFile != nil { throw ArgumentError("--record keeps the body it sends: give -T a file") }
      if uploads.count(where: { $0 == "-" }) > 1 { throw ArgumentError("-T - can be sent once") }
    }
  }

  /// Whether a part of the form is read from standard input.
  private var formReadsInput: Bool {
    formParts.contains { $0.content == .file("-") || $0.content == .contents(of: "-") }
  }

  private func checkForm() throws(ArgumentError) {
    guard !formParts.isEmpty else { return }
    guard data.isEmpty, uploads.isEmpty, !showsHeadOnly else {
      throw ArgumentError("-F sends a form, -d data and -T a file, and -I asks for a HEAD: choose one")
    }
    if recordFile != nil { throw ArgumentError("--record keeps the body it sends: not with -F") }
    guard formReadsInput else { return }
    if usesHTTP10 {
      throw ArgumentError("-F with standard input has no known length: HTTP/1.0 (-0) cannot send it")
    }
    if urls.count > 1
      || formParts.count(where: { $0.content == .file("-") || $0.content == .contents(of: "-") }) > 1
    {
      throw ArgumentError("-F: standard input can be sent once")
    }
  }

  private func checkParts() throws(ArgumentError) {
    if firstReconnectWait != nil, replayFile != nil {
      throw ArgumentError("--reconnect would replay a recording for ever: it needs a server")
    }
    if firstReconnectWait != nil, uploads.contains("-") || formReadsInput {
      throw ArgumentError("--reconnect would send standard input again: give -T or -F a file")
    }
    guard snapshotFile != nil else { return }
    if partsDirectory != nil || maxParts != nil {
      throw ArgumentError("--snapshot saves one part: not with --parts or --max-parts")
    }
    if urls.count > 1 { throw ArgumentError("--snapshot takes one URL: a file is one picture") }
    if snapshotFile == "-" { throw ArgumentError("--snapshot needs the name of a file") }
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
