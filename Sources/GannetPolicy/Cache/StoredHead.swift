package import GannetHTTP

/// What decides whether a stored response may be used: its head, the fields of the request that chose it, and when it
/// came. Times are seconds since 1970 of this machine's clock.
package struct StoredHead: Hashable, Sendable {
  package var status: Int
  package var fields: FieldList
  /// The fields that its request was sent with, of those that chose the response (RFC 9111 section 4.1).
  package var selecting: FieldList
  /// When the request was sent.
  package var requestTime: Int64
  /// When the response's head came.
  package var responseTime: Int64

  /// A response to a request that was sent with `sent`, of whose fields those are kept that chose the response.
  package init(
    status: Int, fields: FieldList, sent: FieldList, requestTime: Int64, responseTime: Int64
  ) {
    self.status = status
    self.fields = StoredHead.withoutConnectionFields(fields)
    self.requestTime = requestTime
    self.responseTime = responseTime
    selecting = FieldList()
    for name in StoredHead.selectingNames(fields) {
      if let value = sent.combinedValue(for: name) { selecting.append(name: name, value: value) }
    }
  }

  /// Whether a request with these fields chooses this response.
  package func isChosen(by sent: FieldList) -> Bool {
    StoredHead.selectingNames(fields).allSatisfy { sent.combinedValue(for: $0) == selecting[$0] }
  }

  /// The names, in lower case, of the fields that choose: those of `Vary`, and `Authorization`, so that nobody is given
  /// what another's credentials were answered with. Of a response in a coding also `Accept-Encoding`, whatever `Vary`
  /// says: a request that has it gets the body as it came, and one without it gets it decoded.
  private static func selectingNames(_ fields: FieldList) -> [String] {
    var names = ["authorization"]
    if fields.contains("Content-Encoding") { names.append("accept-encoding") }
    for value in fields.values(for: "Vary") {
      for name in value.split(separator: ",") {
        names.append(name.filter { $0 != " " && $0 != "\t" }.lowercased())
      }
    }
    return names
  }

  /// The seconds that it stays fresh for from when it was made (RFC 9111 section 4.2.1).
  ///
  /// Without `max-age` and `Expires` it is a tenth of the time since it was last modified, a day at most, where the
  /// status allows that (section 4.2.2).
  package var freshnessLifetime: Int64 {
    let directives = CacheDirectives(fields)
    if let maxAge = directives.maxAge { return maxAge }
    let made = date ?? responseTime
    let expires = fields.values(for: "Expires")
    if let first = expires.first {
      // One that is no date, or not the only one, is past (RFC 9111 section 5.3).
      guard expires.allSatisfy({ $0 == first }), StoredHead.isDate(first), let date = HTTPDate(first) else {
        return 0
      }
      return max(0, date.secondsSince1970 - made)
    }
    guard directives.isPublic || CacheRules.isHeuristicallyCacheable(status),
      let modified = fields["Last-Modified"].flatMap({ HTTPDate($0) })
    else { return 0 }
    return min(CacheRules.longestHeuristic, max(0, (made - modified.secondsSince1970) / 10))
  }

  /// How many seconds ago it was made or last found valid (RFC 9111 section 4.2.3).
  package func age(at now: Int64) -> Int64 {
    let apparent = max(0, responseTime - (date ?? responseTime))
    var told: Int64 = 0
    if let index = fields.firstIndex(named: "Age") {
      // Of a list the first counts, and what is no number does not (section 5.1).
      told = fields.withValueBytes(at: index) { value in
        var end = 0
        while end < value.count, value[end] != UInt8(ascii: ","), value[end] != 0x20 { end += 1 }
        return CacheDirectives.seconds(value, 0..<end) ?? 0
      }
    }
    let corrected = told + max(0, responseTime - requestTime)
    return max(apparent, corrected) + max(0, now - responseTime)
  }

  /// Whether a text is in one of the three forms of HTTP's dates (RFC 9110 section 5.6.7). Elsewhere more is read; what
  /// keeps a response in use is to be certain.
  private static func isDate(_ text: String) -> Bool {
    if let date = HTTPDate(text), date.text == text { return true }
    let form = String(
      text.map { character in
        switch character {
        case "0"..."9": "0"
        case "a"..."z", "A"..."Z": "a"
        default: character
        }
      })
    let isOfRFC850 = form.hasSuffix("aaa, 00-aaa-00 00:00:00 aaa") && text.hasSuffix(" GMT")
    return isOfRFC850 || form == "aaa aaa 00 00:00:00 0000" || form == "aaa aaa  0 00:00:00 0000"
  }

  private var date: Int64? { fields["Date"].flatMap { HTTPDate($0) }?.secondsSince1970 }

  /// The fields that ask whether it is still valid (RFC 9111 section 4.3.1); nil when it has no validator.
  package var conditions: FieldList? {
    var conditions = FieldList()
    if let tag = fields["ETag"], !tag.isEmpty { conditions.append(name: "If-None-Match", value: tag) }
    if let modified = fields["Last-Modified"], HTTPDate(modified) != nil {
      conditions.append(name: "If-Modified-Since", value: modified)
    }
    return conditions.isEmpty ? nil : conditions
  }

  /// Takes over what a 304 says of it (RFC 9111 sections 3.2 and 4.3.4): each field replaces those of its name, but for
  /// those that speak of the 304's own content or connection.
  package mutating func freshen(by update: FieldList, requestTime: Int64, responseTime: Int64) {
    let update = StoredHead.withoutConnectionFields(update)
    var names: Set<String> = []
    for index in update.indices {
      let name = update[index].name.lowercased()
      if StoredHead.ofMessage.contains(name) { continue }
      if names.insert(name).inserted { fields.removeAll(named: name) }
      update.withNameBytes(at: index) { name in
        update.withValueBytes(at: index) { fields.append(name: name, value: $0) }
      }
    }
    // It tells how old the answer was that came then.
    if !names.contains("age") { fields.removeAll(named: "Age") }
    self.requestTime = requestTime
    self.responseTime = responseTime
  }

  /// These fields without those that are for one connection (RFC 9111 section 3.1). A `Connection` that names what
  /// caching itself needs is not followed in that.
  private static func withoutConnectionFields(_ fields: FieldList) -> FieldList {
    var names = ofConnection
    for value in fields.values(for: "Connection") {
      for name in value.split(separator: ",") {
        names.insert(name.filter { $0 != " " && $0 != "\t" }.lowercased())
      }
    }
    names.subtract(ofCaching)
    var kept = fields
    for name in names { kept.removeAll(named: name) }
    return kept
  }

  /// Names, in lower case, of fields that are for one connection.
  private static let ofConnection: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "transfer-encoding", "upgrade",
  ]
  /// Names, in lower case, of fields that caching goes by.
  private static let ofCaching: Set<String> = [
    "age", "authorization", "cache-control", "date", "etag", "expires", "last-modified", "vary",
  ]
  /// Names, in lower case, of fields of a 304 that speak of its own content.
  private static let ofMessage: Set<String> = [
    "content-encoding", "content-length", "content-range", "content-type", "trailer", "vary",
  ]
}
