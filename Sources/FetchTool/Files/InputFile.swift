import GannetSockets

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Files that are read whole, and standard input.
enum InputFile {
  /// Each piece of standard input that is sent changes threads twice, which costs as much as reading 100 KiB.
  private static let pieceBytes = 256 * 1024

  /// The bytes of a file; `-` is standard input.
  static func read(_ path: String) throws(SystemError) -> [UInt8] {
    if path == "-" { return try read(from: STDIN_FILENO) }
    // SAFETY: the path is lent as a C string for the call.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
    let descriptor = FileDescriptor(owning: number)
    return try read(from: descriptor.number)
  }

  private static func read(from number: CInt) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let piece = try readPiece(from: number)
      if piece.isEmpty { return bytes }
      bytes += piece
    }
  }

  /// What standard input has next, waiting for it; nothing at its end.
  static func readPiece() throws(SystemError) -> [UInt8] { try readPiece(from: STDIN_FILENO) }

  private static func readPiece(from number: CInt) throws(SystemError) -> [UInt8] {
    var failure: CInt = 0
    // SAFETY: the kernel writes at most the memory's length, within this closure, and says how much of it that was.
    let piece = unsafe [UInt8](unsafeUninitializedCapacity: pieceBytes) { space, count in
      var result: Int
      repeat {
        result = unsafe systemRead(number, UnsafeMutableRawBufferPointer(space))
      } while result < 0
        && errno == EINTR
      failure = result < 0 ? errno : 0
      count = max(0, result)
    }
    guard failure == 0 else { throw SystemError(errno: failure, call: "read") }
    return piece
  }

  // SAFETY: the caller lends memory that lives for the call; no more than it holds is written.
  @unsafe private static func systemRead(_ number: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Musl)
      return unsafe Musl.read(number, buffer.baseAddress, buffer.count)
    #else
      return unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
    #endif
  }

  /// Makes a folder where there is none, and those it is in.
  static func makeFolder(_ path: String) throws(SystemError) {
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
      try makeFolder(String(path[..<slash]))
    }
    // SAFETY: the path is lent as a C string for the call.
    guard unsafe mkdir(path, 0o777) != 0, errno != EEXIST else { return }
    throw SystemError(errno: errno, call: "mkdir")
  }
}
