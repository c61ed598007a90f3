package import Gannet
import GannetHTTP
import GannetSockets

extension FetchOptions {
  /// Whether cookies are taken from responses and sent with later requests, as `-c` and a file of `-b` ask for.
  private var keepsCookies: Bool { cookieJar != nil || !cookieFiles.isEmpty }

  /// As in curl, `-b` is a field of the request where nothing else is sent; `-H` goes before it.
  func applyCookies(to request: inout URLRequest) {
    guard !keepsCookies, !cookiePairs.isEmpty, request.fields["Cookie"] == nil,
      !request.omittedFields.contains("cookie")
    else {
      return
    }
    request.fields.append(name: "Cookie", value: cookiePairs.joined(separator: "; "))
  }

  /// What cookies are kept in, with those that the flags give; nil when none are kept.
  package func cookieStorage() throws(ToolError) -> HTTPCookieStorage? {
    guard keepsCookies else { return nil }
    let storage = HTTPCookieStorage()
    for path in cookieFiles where !path.isEmpty {
      for cookie in try cookies(in: path) { storage.setCookie(cookie) }
    }
    for url in urls { setPairs(in: storage, for: url) }
    return storage
  }

  /// The cookies of a file. One that is not there yet has none: it may be the one that `-c` is going to write.
  private func cookies(in path: String) throws(ToolError) -> [HTTPCookie] {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try InputFile.read(path) } catch {
      if error.isMissingFile { return [] }
      throw ToolError(.cannotRead, "\(path): \(error.words)")
    }
    do throws(CookieFile.Failure) { return try CookieFile.parse(bytes) } catch {
      throw ToolError(.cannotRead, "-b \(path): line \(error.line): \(error.reason)")
    }
  }

  /// The cookies of `-b NAME=VALUE` go to the URL's own origin only, as a field of its request would. They are known by
  /// their port, which those of servers and files do not have.
  private func setPairs(in storage: HTTPCookieStorage, for url: String) {
    guard let address = try? HTTPURL(url, encodingHostsWith: .shared), !address.host.isEmpty else { return }
    for pair in cookiePairs.flatMap({ $0.split(separator: ";") }) {
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let texts = halves.map { String($0.drop { $0 == " " }) }
      let cookie = HTTPCookie(properties: [
        .name: texts.count == 2 ? texts[0] : "", .value: texts.last ?? "", .domain: address.origin.host,
        .path: "/", .secure: address.scheme == "https", .port: String(address.port),
      ])
      if let cookie { storage.setCookie(cookie) }
    }
  }

  /// Writes what is kept to the file of `-c`, without what `-b NAME=VALUE` gave.
  func writeCookies(of storage: HTTPCookieStorage?) throws(ToolError) {
    guard let cookieJar, let cookies = storage?.cookies else { return }
    let text = CookieFile.text(of: cookies.filter { $0.portList == nil })
    try ToolError.writing(cookieJar) { () throws(SystemError) in
      let file = cookieJar == "-" ? OutputFile.standardOutput : try OutputFile(creating: cookieJar)
      try file.write(text)
    }
  }
}
