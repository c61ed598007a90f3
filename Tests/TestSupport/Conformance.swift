import Foundation
public import Testing

/// The tally of one suite of test vectors: how many rows were run, and which ones differ from us, each with the
/// reason it is ours. `docs/CONFORMANCE.md` holds what it counts.
public struct Conformance {
  private let suite: String
  private let table: [(reason: String, ids: [String])]
  private let reasons: [String: String]
  private var run = 0
  private var differing: Set<String> = []
  private var differences: [(id: String, what: String)] = []

  /// Begins the tally of `suite`.
  /// - Parameter differences: the ids of the rows on which we differ on purpose, by the reason.
  public init(_ suite: String, differences: [(reason: String, ids: [String])] = []) {
    self.suite = suite
    table = differences
    var reasons: [String: String] = [:]
    for (reason, ids) in differences {
      for id in ids { reasons[id] = reason }
    }
    self.reasons = reasons
  }

  /// Notes one row, and what was different, or nil when nothing was.
  public mutating func note(_ id: String, _ difference: String?) {
    run += 1
    guard let difference else { return }
    differing.insert(id)
    if reasons[id] == nil { differences.append((id, difference)) }
  }

  /// Records an issue for each row that differs without a reason, each reason without a difference, and for a
  /// number of rows that is not `rows`.
  public func finish(rows: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    for (id, what) in differences { Issue.record("\(id): \(what)", sourceLocation: sourceLocation) }
    for id in reasons.keys.sorted() where !differing.contains(id) {
      Issue.record("\(id) is listed as different and is not", sourceLocation: sourceLocation)
    }
    printRow()
    #expect(run == rows, "rows of \(suite)", sourceLocation: sourceLocation)
  }

  /// The rows of `docs/CONFORMANCE.md` for this suite, printed when `GANNET_CONFORMANCE` is set.
  private func printRow() {
    guard ProcessInfo.processInfo.environment["GANNET_CONFORMANCE"] != nil else { return }
    var counts: [(reason: String, count: Int)] = []
    for (reason, ids) in table {
      let count = ids.count { differing.contains($0) }
      if let index = counts.firstIndex(where: { $0.reason == reason }) {
        counts[index].count += count
      } else {
        counts.append((reason, count))
      }
    }
    let why = counts.map { "\($0.count): \($0.reason)" }.joined(separator: "; ")
    print("| \(suite) | \(run) | \(run - differing.count) | \(why) |")
  }
}
