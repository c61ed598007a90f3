import Synchronization

/// How many posts to a host are under way, and whether the host waits for the last of them to leave.
///
/// A host that has nothing to do may leave only while nobody is about to give it a job. Nothing else happens to a host
/// that stayed for that reason alone, so whoever was in its way has to wake it.
package final class PostCount: Sendable {
  /// Twice the number of posts, and one when the host waits.
  private let value = Atomic<Int>(0)

  package init() {}

  /// A post begins.
  package func enter() {
    value.add(2, ordering: .acquiringAndReleasing)
  }

  /// A post has delivered its job. True when the host has waited for this one, and is to be woken.
  package func leave() -> Bool {
    guard value.subtract(2, ordering: .acquiringAndReleasing).newValue == 1 else { return false }
    return value.compareExchange(expected: 1, desired: 0, ordering: .acquiringAndReleasing).exchanged
  }

  /// Whether no post is under way. When one is, the last to leave is told.
  package func isZero() -> Bool {
    var seen = value.load(ordering: .acquiring)
    while seen > 1 {
      let marked = value.compareExchange(
        expected: seen, desired: seen | 1, ordering: .acquiringAndReleasing)
      if marked.exchanged { return false }
      seen = marked.original
    }
    return true
  }
}
