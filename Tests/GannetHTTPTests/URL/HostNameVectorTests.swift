import GannetHTTP
import TestSupport
import Testing

/// Public suites of host names, laid against each encoder that the build has.
@Suite("vectors: host names", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct HostNameVectorTests {
  /// Why a row gives something else here.
  enum Difference: String {
    /// libidn2 refuses symbols, as IDNA 2008 does.
    case symbol
    /// A hyphen at an end, or in the third and fourth place, of a label.
    case hyphen
    /// A label or a name that is longer than name servers take.
    case length
    /// The tables are of another version of Unicode.
    case version
    /// An empty label beside one that is not ASCII, or an empty name.
    case empty
  }

  struct Tally {
    var rows = 0
    var counts: [Difference: Int] = [:]
  }

  @Test("web-platform-tests: toascii", arguments: HostNameTables.all)
  func toASCII(_ tables: HostNameTables) throws {
    let tally = try run("url/wpt-toascii.json", tables) { ($0.string("input"), $0.string("output")) }
    #expect(tally.rows == 87)
    switch tables {
    case .foundation: #expect(tally.counts == [.hyphen: 5, .length: 3, .empty: 1])
    case .libidn2: #expect(tally.counts == [.symbol: 6, .version: 2])
    }
  }

  @Test("web-platform-tests: IdnaTestV2", arguments: HostNameTables.all)
  func idnaTest(_ tables: HostNameTables) throws {
    let tally = try run("url/wpt-IdnaTestV2.json", tables) { ($0.string("input"), $0.string("output")) }
    #expect(tally.rows == 2671)
    switch tables {
    case .foundation:
      #expect(tally.counts == [.hyphen: 45, .length: 34, .empty: 24, .version: 3])
    case .libidn2:
      #expect(tally.counts == [.symbol: 116, .length: 28, .hyphen: 14, .version: 3, .empty: 1])
    }
  }

  /// The names in it that can be hosts; `punycode-bad.json` is of decoding, which nothing does here.
  @Test("rust-url: Punycode", arguments: HostNameTables.all)
  func punycode(_ tables: HostNameTables) throws {
    let tally = try run("url/punycode.json", tables) { row in
      let name = row.string("decoded") ?? ""
      guard !name.contains(" "), !name.allSatisfy(\.isASCII) else { return (nil, nil) }
      return (name, "xn--" + (row.string("encoded") ?? "").lowercased())
    }
    #expect(tally.rows == 21)
    switch tables {
    case .foundation: #expect(tally.counts == [.length: 1])
    case .libidn2: #expect(tally.counts == [.symbol: 2, .length: 1])
    }
  }

  @Test("web-platform-tests: percent-encoding, as UTF-8")
  func percentEncoding() throws {
    var rows = 0
    for row in try VectorFile.rows("url/wpt-percent-encoding.json") {
      guard let input = row.string("input"), let wanted = row.object("output")?["utf-8"] else { continue }
      rows += 1
      // RFC 3986 allows neither `\` nor `|` in a query, so these are encoded too (docs/CONFORMANCE.md, "encoding").
      let url = try HTTPURL("http://h/").resolving("?" + input)
      #expect(url.query == wanted.replacing("\\", with: "%5C").replacing("|", with: "%7C"))
    }
    #expect(rows == 7)
  }

  private func run(
    _ file: String, _ tables: HostNameTables,
    _ read: (VectorFile.Row) -> (name: String?, wanted: String?)
  ) throws -> Tally {
    var tally = Tally()
    for row in try VectorFile.rows(file) {
      let (name, wanted) = read(row)
      guard let name else { continue }
      tally.rows += 1
      // As escapes, so that no character of the name is the URL's.
      let escaped = name.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let outcome = urlOutcome("http://\(escaped)/", at: nil, tables.encoder)
      if outcome.url?.host == wanted { continue }
      guard let difference = difference(outcome, wanted, tables) else {
        Issue.record("\(name.debugDescription): \(outcome), not \(wanted ?? "nothing")")
        continue
      }
      tally.counts[difference, default: 0] += 1
    }
    return tally
  }

  private func difference(
    _ outcome: Result<HTTPURL, URLSyntaxError>, _ wanted: String?, _ tables: HostNameTables
  ) -> Difference? {
    // What a suite refuses is never taken.
    guard let wanted else { return nil }
    switch outcome {
    case .success(let url): return url.host.contains("ss") && wanted.contains("xn--") ? .version : nil
    case .failure(let error) where error.rule == .noHost: return .empty
    case .failure(let error):
      if tables == .foundation { return foundationsReason(wanted) }
      if error.reason.contains("hyphen") { return .hyphen }
      if error.reason.contains("disallowed") { return .symbol }
      if error.reason.contains("too large") || error.reason.contains("longer than") { return .length }
      if error.reason.contains("unassigned") { return .version }
      return nil
    }
  }

  /// Foundation says only that it has no form for a name, so this looks at the form that it should have.
  private func foundationsReason(_ wanted: String) -> Difference {
    let labels = wanted.split(separator: ".")
    if wanted.utf8.count > 253 || labels.contains(where: { $0.utf8.count > 63 }) { return .length }
    let hasHyphen = labels.contains { label in
      label.hasPrefix("-") || label.hasSuffix("-") || label.hasPrefix("xn--") && label.contains("---")
        || !label.hasPrefix("xn--") && label.dropFirst(2).hasPrefix("--")
    }
    let isGapped = wanted.dropLast().contains("..") || wanted.hasPrefix(".")
    return hasHyphen ? .hyphen : isGapped ? .empty : .version
  }
}
