import GannetHTTP
import Testing
import TestSupport

/// The URL standard's own tests. Each row runs as a caller's text and as a server's.
@Suite("vectors: the URL standard", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct URLStandardVectorTests {
  @Test("web-platform-tests: urltestdata", arguments: [nil] + HostNameTables.all)
  func urltestdata(_ tables: HostNameTables?) throws {
    let (caller, peer) = try run("url/wpt-urltestdata.json", tables)
    let hosts = tables == nil ? 10 : 0
    #expect(caller.rows == 891 && peer.rows == 891)
    #expect(
      caller.counts == [.encoding: 35, .file: 135, .control: 29, .slashes: 18].adding(.nonASCIIHost, hosts))
    #expect(peer.counts == [.encoding: 42, .file: 135].adding(.nonASCIIHost, hosts))
  }

  @Test("ada's additions to it", arguments: [nil] + HostNameTables.all)
  func ada(_ tables: HostNameTables?) throws {
    let (caller, peer) = try run("url/ada-extra-urltestdata.json", tables)
    let hosts = tables == nil ? 1 : 0
    #expect(caller.rows == 28 && peer.rows == 28)
    #expect(caller.counts == [.encoding: 1, .file: 2].adding(.nonASCIIHost, hosts))
    #expect(peer.counts == [.encoding: 1, .file: 2].adding(.nonASCIIHost, hosts))
  }

  private func run(_ file: String, _ tables: HostNameTables?) throws -> (caller: URLTally, peer: URLTally) {
    var caller = URLTally()
    var peer = URLTally()
    for (index, row) in try VectorFile.rows(file).enumerated() {
      let input = try #require(row.string("input"))
      let base = row.string("base")
      compare(
        urlOutcome(input, at: base, tables?.encoder), with: row, "\(index)", isCaller: base == nil, &caller)
      // At a base without a hierarchy a relative reference fails, as it does without a base.
      let isFragment = base == nil && input.hasPrefix("#")
      compare(
        urlOutcome(input, at: isFragment ? nil : base ?? "x-opaque:x", tables?.encoder), with: row,
        "\(index)", isCaller: false, &peer)
    }
    return (caller, peer)
  }

  private func compare(
    _ outcome: Result<HTTPURL, URLSyntaxError>, with row: VectorFile.Row, _ id: String, isCaller: Bool,
    _ tally: inout URLTally
  ) {
    tally.rows += 1
    let href = row.string("href")
    let texts = [href, row.string("input"), row.string("base")].compactMap { $0?.lowercased() }
    if texts.contains(where: { $0.hasPrefix("file:") }) {
      if case .success(let url) = outcome, let href { #expect(href.hasPrefix(url.scheme + ":"), "\(id)") }
      return tally.differ(.file, id, "")
    }
    switch (outcome, href) {
    case (.failure, nil): break
    case (.success(let url), nil):
      tally.differ(nil, id, "\(url.text) was taken")
    case (.failure(let error), let href?):
      let difference: URLDifference? =
        switch error.rule {
        case .nonASCIIHost: .nonASCIIHost
        case .forbiddenByte where isCaller: .control
        case .noHost where isCaller: .slashes
        default: nil
        }
      tally.differ(difference, id, "\(href) was refused: \(error)")
    case (.success(let url), let href?):
      #expect(urlOutcome(url.text) == .success(url) && url.isCanonical, "\(id)")
      if url.text == href { return compareParts(url, row, id) }
      tally.differ(differOnlyInEncoding(url.text, href) ? .encoding : nil, id, "\(url.text), not \(href)")
    }
  }

  private func compareParts(_ url: HTTPURL, _ row: VectorFile.Row, _ id: String) {
    let host = url.hostKind == .ipv6 ? "[\(url.host)]" : url.host
    #expect(host == row.string("hostname"), "\(id)")
    #expect(url.hostField == row.string("host"), "\(id)")
    #expect(url.scheme + ":" == row.string("protocol"), "\(id)")
    #expect(url.path == row.string("pathname"), "\(id)")
    #expect((url.query.map { $0.isEmpty ? "" : "?" + $0 } ?? "") == row.string("search"), "\(id)")
    #expect((url.fragment.map { $0.isEmpty ? "" : "#" + $0 } ?? "") == row.string("hash"), "\(id)")
    #expect(Array((url.user ?? "").utf8) == percentDecoded(row.string("username") ?? ""), "\(id)")
    #expect(Array((url.password ?? "").utf8) == percentDecoded(row.string("password") ?? ""), "\(id)")
  }
}
