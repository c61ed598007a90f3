// What Glibc and Musl spell differently, in one place.
#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Constants whose Swift type differs between the C libraries.
enum Platform {
  #if canImport(Musl)
    static let stream = SOCK_STREAM
    static let nonBlocking = SOCK_NONBLOCK | SOCK_CLOEXEC
  #else
    static let stream = CInt(SOCK_STREAM.rawValue)
    static let nonBlocking = CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
  #endif
  static let noSignal = CInt(MSG_NOSIGNAL)
}

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error's number, as in `errno`.
  package let errno: CInt
  /// The call that failed, as in its manual page.
  package let call: String

  package init(errno: CInt, call: String) {
    self.errno = errno
    self.call = call
  }

  /// The error that the last call on this thread left in `errno`.
  static func last(_ call: String) -> SystemError {
    SystemError(errno: lastErrno, call: call)
  }

  /// The number in words.
  package var words: String { SystemError.words(for: errno) }

  /// The peer takes no more: its own end came before.
  package static let brokenPipe: CInt = EPIPE

  /// Whether there is no such file.
  package var isMissingFile: Bool { errno == ENOENT || errno == ENOTDIR }
  /// Whether it is a folder.
  package var isFolder: Bool { errno == EISDIR }
  /// Whether the file may not be used so.
  package var isRefusal: Bool { errno == EACCES || errno == EPERM }

  /// What says no more than that a kind of network isn't there.
  static let missingNetwork: Set<CInt> = [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EHOSTUNREACH]

  package var description: String { "\(call): \(words)" }

  /// The C library's words for an error number, but for that of `RegularFile`: nothing here seeks.
  package static func words(for errno: CInt) -> String {
    if errno == ESPIPE { return "not a regular file" }
    // SAFETY: strerror gives a terminated string that both C libraries keep per thread or for ever; it is
    // copied at once.
    guard let text = unsafe strerror(errno) else { return "error \(errno)" }
    return unsafe String(cString: text)
  }
}

/// `errno` of this thread.
var lastErrno: CInt {
  #if canImport(Musl)
    Musl.errno
  #else
    Glibc.errno
  #endif
}
