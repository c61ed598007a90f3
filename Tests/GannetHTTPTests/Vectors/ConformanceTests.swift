import Synchronization
import TestSupport
import Testing

/// A difference from a public suite is stated, or it is an error; so is one that is stated and is none any more.
@Suite("tallies of vectors")
struct ConformanceTests {
  @Test(
    "what a tally complains of",
    arguments: [
      ([("a", nil), ("b", "x")] as [(String, String?)], 2, 0),
      ([("a", "x"), ("b", "x")], 2, 1),
      ([("a", nil), ("b", nil)], 2, 1),
      ([("a", "x"), ("b", nil)], 2, 2),
      ([("a", nil), ("b", "x")], 3, 1),
    ])
  func issues(notes: [(String, String?)], rows: Int, count: Int) {
    let found = Mutex(0)
    withKnownIssue(isIntermittent: true) {
      var tally = Conformance("none", differences: [("a reason", ["b"])])
      for (id, difference) in notes { tally.note(id, difference) }
      tally.finish(rows: rows)
    } matching: { _ in
      found.withLock { $0 += 1 }
      return true
    }
    #expect(found.withLock { $0 } == count)
  }
}
