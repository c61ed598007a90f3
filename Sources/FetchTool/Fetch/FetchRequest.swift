import Gannet
import GannetHTTP
import GannetSockets
import GannetTLS

extension FetchOptions {
  /// The request for one of the URLs. Reads the files that `-d` and `-H` name; `body` is the same for all URLs.
  func request(for url: String, body: [UInt8]?) throws(ToolError) -> URLRequest {
    var request = URLRequest(string: url)
    request.httpMethod = effectiveMethod
    if let body { request.httpBody = Data(body) }
    for edit in fieldEdits { try apply(edit, to: &request) }
    let type = "Content-Type"
    if !data.isEmpty, request.httpFields[type] == nil, !request.omittedFields.contains(type.lowercased()) {
      request.httpFields.append(name: type, value: "application/x-www-form-urlencoded")
    }
    return request
  }

  /// The fields given with `-H` that are not sent, since the body decides about them.
  func ignoredFields(of request: URLRequest) -> [String] {
    ["Content-Length", "Transfer-Encoding"].filter {
      request.httpFields[$0] != nil
        || $0 == "Content-Length" && request.omittedFields.contains($0.lowercased())
    }
  }

  /// The body that the `-d` flags make, joined by `&`; nil without one.
  func readBody() throws(ToolError) -> [UInt8]? {
    guard !data.isEmpty else { return recordedBody }
    var body: [UInt8] = []
    for (index, piece) in data.enumerated() {
      if index > 0 { body.append(UInt8(ascii: "&")) }
      switch piece {
      case .text(let text): body += text.utf8
      case .file(let path):
        let bytes = try ToolError.reading(path) { () throws(SystemError) in try InputFile.read(path) }
        body += bytes.filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
      }
    }
    return body
  }

  private func apply(_ edit: FieldEdit, to request: inout URLRequest) throws(ToolError) {
    switch edit {
    case .set(let name, let value): request.httpFields.append(name: name, value: value)
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
    if let connectTimeout { configuration.connectTimeLimit = connectTimeout }
    configuration.unixSocketPath = unixSocket
    configuration.splitsUnlabelledStreams = partsDirectory != nil
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
  func recordedLoad(_ request: URLRequest) -> Recording.Load {
    var load = Recording.Load(method: request.httpMethod ?? "GET", url: request.urlString)
    load.fields = request.httpFields.map { Recording.Field(name: $0.name, value: $0.value) }
    load.body = request.httpBody.map { Array($0) }
    if let login {
      load.answers.append(Recording.Answer.credentials(user: login.user, password: login.password ?? "").text)
    }
    if !followsRedirects { load.answers.append(Recording.Answer.refuseRedirect.text) }
    if skipsVerification { load.answers.append(Recording.Answer.trust.text) }
    return load
  }
}
