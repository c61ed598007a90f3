import GannetSockets

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Files that are read whole.
enum InputFile {
  private static let pieceBytes = 64 * 1024

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
    var piece = [UInt8](repeating: 0, count: pieceBytes)
    while true {
      // SAFETY: the kernel writes at most the array's length, within this closure.
      let count = unsafe piece.withUnsafeMutableBytes { unsafe systemRead(number, $0) }
      if count > 0 {
        bytes += piece[..<count]
      } else if count == 0 {
        return bytes
      } else if errno != EINTR {
        throw SystemError(errno: errno, call: "read")
      }
    }
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
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try makeFolder(String(path[..<slash])) }
    // SAFETY: the path is lent as a C string for the call.
    guard unsafe mkdir(path, 0o777) != 0, errno != EEXIST else { return }
    throw SystemError(errno: errno, call: "mkdir")
  }
}
