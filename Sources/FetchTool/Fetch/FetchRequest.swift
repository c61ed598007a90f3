package import Gannet
import GannetHTTP
import GannetSockets
import GannetTLS

extension FetchOptions {
  /// The request for one of the URLs. Reads the files that `-d` and `-H` name; `body` is the same for all URLs,
  /// `upload` what `-T` names for this one.
  package func request(
    for url: String, body: [UInt8]?, upload: String? = nil
  ) throws(ToolError) -> URLRequest {
    var request = URLRequest(string: upload.map { UploadURL.of($0, at: url) } ?? url)
    request.httpMethod = effectiveMethod(isUpload: upload != nil)
    // A URL that is given twice, or loaded again by --reconnect, is asked for again, as in curl.
    request.cachePolicy = .reloadIgnoringLocalCacheData
    if usesHTTP10 { request.httpVersion = .http10 }
    var length = Int64(body?.count ?? 0)
    if let upload {
      (request.body, length) = try FetchOptions.body(of: upload)
    } else if !formParts.isEmpty {
      let form = try form()
      request.setForm(form)
      length = form.knownLength ?? -1
    } else if let body {
      request.httpBody = Data(body)
    }
    for edit in fieldEdits { try apply(edit, to: &request) }
    applyCookies(to: &request)
    applyUserAgent(to: &request)
    if data.contains(where: \.isJSON) {
      request.add("application/json", asField: "Content-Type")
      request.add("application/json", asField: "Accept")
    } else if !data.isEmpty {
      request.add("application/x-www-form-urlencoded", asField: "Content-Type")
    }
    if length > FetchOptions.unaskedBytes || length < 0, !usesHTTP10, request.fields["Expect"] == nil,
      request.fields["Upgrade"] == nil, !request.omittedFields.contains("expect")
    {
      request.fields.append(name: "Expect", value: "100-continue")
    }
    return request
  }

  /// `-H` goes before `-A`, as in curl.
  private func applyUserAgent(to request: inout URLRequest) {
    let name = "User-Agent"
    guard let userAgent, request.fields[name] == nil, !request.omittedFields.contains(name.lowercased())
    else {
      return
    }
    if userAgent.isEmpty {
      request.omittedFields.insert(name.lowercased())
    } else {
      request.fields.append(name: name, value: userAgent)
    }
  }

  /// The format of `-w`, read from its file where it has one.
  func readWriteOut() throws(ToolError) -> WriteOutFormat? {
    switch writeOut {
    case nil: return nil
    case .format(let format): return format
    case .file(let path):
      let bytes = try ToolError.reading(path) { () throws(SystemError) in try InputFile.read(path) }
      do throws(ArgumentError) { return try WriteOutFormat(String(decoding: bytes, as: UTF8.self)) } catch {
        throw ToolError(.badUsage, "\(path): \(error.sentence)")
      }
    }
  }

  /// As in curl, a body of more than so many bytes, or of unknown length, is sent once the server has asked for it.
  private static let unaskedBytes: Int64 = 1024 * 1024

  /// The body that `-T` names, and its length; -1 when that is not known.
  private static func body(of upload: String) throws(ToolError) -> (URLRequest.Body, Int64) {
    if upload == "-" { return (.stream(InputPieces()), -1) }
    let file = try ToolError.reading(upload) { () throws(SystemError) in try RegularFile(path: upload) }
    return (.file(upload), file.byteCount)
  }

  /// The fields given with `-H` that are not sent, since the body decides about them.
  func ignoredFields(of request: URLRequest) -> [String] {
    ["Content-Length", "Transfer-Encoding"].filter {
      request.fields[$0] != nil
        || $0 == "Content-Length" && request.omittedFields.contains($0.lowercased())
    }
  }

  /// The body that `-d`, `--data-binary` and `--json` make, joined by `&` but for JSON; nil without one.
  package func readBody() throws(ToolError) -> [UInt8]? {
    guard !data.isEmpty else { return recordedBody }
    var body: [UInt8] = []
    for (index, piece) in data.enumerated() {
      if index > 0, !piece.isJSON { body.append(UInt8(ascii: "&")) }
      switch piece {
      case .text(let text), .json(let text): body += text.utf8
      case .binaryFile(let path), .jsonFile(let path):
        body += try ToolError.reading(path) { () throws(SystemError) in try InputFile.read(path) }
      case .file(let path):
        let bytes = try ToolError.reading(path) { () throws(SystemError) in try InputFile.read(path) }
        body += bytes.filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
      }
    }
    return body
  }

  private func apply(_ edit: FieldEdit, to request: inout URLRequest) throws(ToolError) {
    switch edit {
    case .set(let name, let value): request.fields.append(name: name, value: value)
    case .remove(let name) where name.lowercased() == "host":
      throw ToolError(.badUsage, "the Host field cannot be left out of an HTTP/1.1 request")
    case .remove(let name): request.omittedFields.insert(name.lowercased())
    case .file(let path):
      let bytes = try ToolError.reading(path) { () throws(SystemError) in try InputFile.read(path) }
      for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      where !line.hasPrefix("#") {
        do throws(ArgumentError) {
          let inner = try FieldEdit(String(line))
          guard !line.hasPrefix("@") else { throw ArgumentError("a file of fields names another") }
          try applyLine(inner, to: &request)
        } catch { throw ToolError(.badUsage, "\(path): \(error.sentence)") }
      }
    }
  }

  private func applyLine(_ edit: FieldEdit, to request: inout URLRequest) throws(ArgumentError) {
    do throws(ToolError) { try apply(edit, to: &request) } catch { throw ArgumentError(error.sentence) }
  }

  /// What the flags say of how loads are made.
  func configuration() throws(ToolError) -> URLConnection.Configuration {
    var configuration = URLConnection.Configuration()
    if skipsVerification {
      configuration.trust = .unverified
    } else if let authorityFile {
      do throws(SystemError) { _ = try InputFile.read(authorityFile) } catch {
        throw ToolError(.badAuthorityFile, "\(authorityFile): \(error.words)")
      }
      // The loads take the same context from its store.
      do throws(TLSError) { _ = try TLSContext.client(trust: .file(authorityFile)) } catch {
        throw ToolError(.badAuthorityFile, "--cacert \(authorityFile): \(error)")
      }
      configuration.trust = .file(authorityFile)
    }
    if let expectTimeout { configuration.expectContinueTimeLimit = expectTimeout }
    if let connectTimeout { configuration.connectTimeLimit = connectTimeout }
    configuration.cookieStorage = try cookieStorage()
    configuration.unixSocketPath = unixSocket
    configuration.collectsMetrics = writeOut != nil
    // Whoever asks for parts wants them of whatever has any.
    let wantsParts = partsDirectory != nil || snapshotFile != nil
    configuration.splitsUnlabelledStreams = wantsParts
    configuration.splitsMixedStreams = wantsParts
    configuration.acceptsUnchunkedStreams = wantsParts
    return configuration
  }

  /// Takes over what was recorded of a load; flags that were given go before it.
  mutating func load(_ load: Recording.Load) throws(ToolError) {
    urls = [load.url]
    method = method ?? load.method
    fieldEdits = load.fields.map { .set(name: $0.name, value: $0.value) } + fieldEdits
    if data.isEmpty, let body = load.body { recordedBody = body }
    for text in load.answers {
      switch Recording.Answer(text) {
      case .credentials(let user, let password): login = login ?? Login("\(user):\(password)")
      case .refuseRedirect: followsRedirects = false
      case .trust: skipsVerification = true
      case nil: throw ToolError(.cannotRead, "\(replayFile ?? ""): \"answer \(text)\" is not understood")
      }
    }
  }

  /// The load as a recording describes it.
  func recordedLoad(_ request: URLRequest) throws(SystemError) -> Recording.Load {
    var load = Recording.Load(method: request.httpMethod ?? "GET", url: request.urlString)
    load.fields = request.fields.map { Recording.Field(name: $0.name, value: $0.value) }
    load.body = request.httpBody.map { Array($0) }
    if let upload = uploads.first { load.body = try InputFile.read(upload) }
    if let login {
      load.answers.append(Recording.Answer.credentials(user: login.user, password: login.password ?? "").text)
    }
    if !followsRedirects { load.answers.append(Recording.Answer.refuseRedirect.text) }
    if skipsVerification { load.answers.append(Recording.Answer.trust.text) }
    return load
  }
}

/// What a URL calls its file.
enum RemoteName {
  /// The last segment of the path as the URL has it, escapes and all, as in curl; nil when it is empty.
  static func of(_ url: String) -> String? {
    guard let path = try? HTTPURL(url, encodingHostsWith: .shared).path, !path.hasSuffix("/") else {
      return nil
    }
    return path.split(separator: "/").last.map(String.init)
  }
}

extension URLRequest {
  /// Adds a field, unless there is one or it is to be left out.
  fileprivate mutating func add(_ value: String, asField name: String) {
    guard fields[name] == nil, !omittedFields.contains(name.lowercased()) else { return }
    fields.append(name: name, value: value)
  }
}

/// Where a file is sent to.
enum UploadURL {
  /// As in curl, a URL that ends in a slash, or has no path, names the folder: the file's name is added.
  static func of(_ file: String, at url: String) -> String {
    guard file != "-", let address = try? HTTPURL(url, encodingHostsWith: .shared),
      address.query == nil, address.path.hasSuffix("/")
    else {
      return url
    }
    let name = file.utf8.split(separator: UInt8(ascii: "/")).last.flatMap(String.init) ?? file
    let base = url.prefix { $0 != "#" }
    return base + (base.hasSuffix("/") ? "" : "/") + escaped(name)
  }

  /// Every byte but those that may stand in a segment of a path as they are (RFC 3986 section 2.3).
  private static func escaped(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        text.unicodeScalars.append(UnicodeScalar(byte))
      default:
        text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }
}
