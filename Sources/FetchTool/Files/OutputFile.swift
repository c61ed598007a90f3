import FoundationEssentials
import GannetSockets

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file or a standard stream that is written as it is told, without buffering: what was written stays when the
/// process ends, however it ends.
final class OutputFile: Sendable {
  static let standardOutput = OutputFile(number: STDOUT_FILENO)
  static let standardError = OutputFile(number: STDERR_FILENO)

  private let number: CInt
  private let descriptor: FileDescriptor?

  private init(number: CInt) {
    self.number = number
    descriptor = nil
  }

  /// Creates the file, or empties the one that is there.
  init(creating path: String) throws(SystemError) {
    // SAFETY: the path is lent as a C string for the call.
    let number = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
    self.number = number
    descriptor = FileDescriptor(owning: number)
  }

  /// Whether it is a terminal.
  var isTerminal: Bool { isatty(number) == 1 }

  /// Whether it is a terminal on which lines can be drawn again.
  var canMoveCursor: Bool {
    guard isTerminal else { return false }
    let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
    return !kind.isEmpty && kind != "dumb"
  }

  /// Columns of the terminal; 80 where it doesn't say.
  var columns: Int {
    var size = winsize()
    // SAFETY: the kernel writes one winsize, which lives for the call.
    let result = unsafe ioctl(number, UInt(TIOCGWINSZ), &size)
    return result == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Writes all of `bytes`, waiting where the other end is slow.
  func write(_ bytes: Span<UInt8>) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      // SAFETY: reads the span from `written` on, no further than its end.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        return unsafe Self.systemWrite(number, rest)
      }
      if count >= 0 {
        written += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: waitForRoom()
      case let failure: throw SystemError(errno: failure, call: "write")
      }
    }
  }

  /// Writes the text as UTF-8.
  func write(_ text: String) throws(SystemError) {
    let bytes = Array(text.utf8)
    try write(bytes.span)
  }

  /// Writes the text as one line to standard error. When that cannot be written there is nobody left to tell.
  static func complain(_ text: String) {
    try? standardError.write(text.printable + "\n")
  }

  /// Gives a file another name, in place of one that had it.
  static func rename(_ path: String, to name: String) throws(SystemError) {
    // SAFETY: both paths are lent as C strings for the call.
    guard unsafe systemRename(path, name) == 0 else { throw SystemError(errno: errno, call: "rename") }
  }

  /// Takes the numbers of standard streams that came closed, so that no file or socket gets one of them and is written
  /// to as if it were that stream. As with a closed one, its use fails: it is opened for the other direction.
  static func reserveStandardStreams() {
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      // SAFETY: the path is a constant, lent for the call. Where there is no such file there is nothing to take.
      let opened = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      // The system gives the lowest number that is free: one above means that this one is not.
      if opened >= 0, opened != number { close(opened) }
    }
  }

  /// Standard output may be a pipe that somebody made non-blocking.
  private func waitForRoom() {
    var watched = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    // SAFETY: one pollfd, which lives for the call. What it returns doesn't matter: the write is tried again.
    _ = unsafe poll(&watched, 1, -1)
  }

  // SAFETY: the caller lends two C strings that live for the call.
  @unsafe private static func systemRename(
    _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>
  ) -> CInt {
    #if canImport(Musl)
      return unsafe Musl.rename(path, name)
    #else
      return unsafe Glibc.rename(path, name)
    #endif
  }

  // SAFETY: the caller lends memory that lives for the call; no more than it holds is read.
  @unsafe private static func systemWrite(_ number: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Musl)
      return unsafe Musl.write(number, bytes.baseAddress, bytes.count)
    #else
      return unsafe Glibc.write(number, bytes.baseAddress, bytes.count)
    #endif
  }
}
