#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The one owner of a descriptor: closes it when it goes.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The descriptor's number, valid as long as this value lives.
  package let number: CInt

  /// Takes a descriptor that nobody else closes.
  package init(owning number: CInt) {
    self.number = number
  }

  /// Takes what a system call returned, or throws what it left in `errno`.
  init(checking number: CInt, _ call: String) throws(SystemError) {
    guard number >= 0 else { throw SystemError.last(call) }
    self.number = number
  }

  deinit {
    // Linux lets the number go even when close reports EINTR, so there is nothing to try again.
    _ = close(number)
  }
}
