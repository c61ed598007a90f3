#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Asks for a password on the terminal, whatever standard input is.
enum PasswordPrompt {
  /// A longer line is cut off here.
  private static let maximumBytes = 4096

  /// Gives the line typed, which is not shown; nil without a terminal.
  static func read(_ prompt: String) -> String? {
    // SAFETY: the path is a constant, lent for the call.
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    put(prompt, on: terminal)
    var before = termios()
    // SAFETY: both calls get one termios, which lives for the call.
    guard unsafe tcgetattr(terminal, &before) == 0 else { return nil }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    // SAFETY: as above; if it fails the password is shown, which is no reason not to ask.
    _ = unsafe tcsetattr(terminal, TCSAFLUSH, &silent)
    defer {
      // SAFETY: as above.
      _ = unsafe tcsetattr(terminal, TCSAFLUSH, &before)
      put("\n", on: terminal)
    }
    return readLine(from: terminal)
  }

  private static func put(_ text: String, on terminal: CInt) {
    let bytes = Array(text.utf8)
    // SAFETY: the array lives for the call. A prompt that cannot be shown is no reason not to read.
    _ = unsafe bytes.withUnsafeBytes { unsafe write(terminal, $0.baseAddress, $0.count) }
  }

  private static func readLine(from terminal: CInt) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < maximumBytes {
      // SAFETY: the kernel writes at most the one byte.
      let count = unsafe Self.readByte(terminal, &byte)
      guard count > 0 else { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
      if byte == 0x0A { break }
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }

  // SAFETY: the caller lends room for one byte.
  @unsafe private static func readByte(_ terminal: CInt, _ byte: UnsafeMutablePointer<UInt8>) -> Int {
    #if canImport(Musl)
      return unsafe Musl.read(terminal, byte, 1)
    #else
      return unsafe Glibc.read(terminal, byte, 1)
    #endif
  }
}
