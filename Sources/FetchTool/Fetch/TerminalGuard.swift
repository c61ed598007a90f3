/// Keeps binary bodies off a terminal, as curl does: a NUL near the beginning tells one.
package struct TerminalGuard: Sendable {
  private static let watchedBytes = 2000
  private var seen = 0

  /// Nothing has been seen yet.
  package init() {}

  /// Whether these next bytes should not be shown.
  package mutating func refuses(_ bytes: Span<UInt8>) -> Bool {
    let watched = bytes.extracting(first: max(0, Self.watchedBytes - seen))
    seen += watched.count
    return watched.indices.contains { watched[$0] == 0 }
  }
}
