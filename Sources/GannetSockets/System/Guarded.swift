import Synchronization

/// A value behind a mutex, whose order the thread sanitizer sees.
///
/// The mutex of Swift 6.3's library locks in code without instrumentation when it is contended, and what it guards is
/// reported as a race then. The atomic says again, in our code, what the lock says: whoever comes in comes after
/// whoever went out last. Remove when the library's own is seen.
package struct Guarded<Value>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let order = Atomic<Bool>(false)

  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  /// Runs the body alone with the value.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { value throws(Failure) in
      _ = order.load(ordering: .acquiring)
      defer { order.store(true, ordering: .releasing) }
      return try body(&value)
    }
  }
}
