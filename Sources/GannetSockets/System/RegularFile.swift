#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A regular file that is read from its beginning to its end. Not tied to a thread, used by one at a time.
///
/// Reading blocks the caller, as short as a disk's cache is: a regular file is always ready, so there is nothing to wait
/// for. What may make a reader wait (a pipe, a terminal) is refused.
package final class RegularFile {
  private let descriptor: FileDescriptor
  /// How many bytes it held when it was opened.
  package let byteCount: Int64

  /// Opens a file.
  ///
  /// - Throws: what `open` or `fstat` said; `EISDIR` for a folder, `ESPIPE` for anything else that is no regular file.
  package convenience init(path: String) throws(SystemError) { try self.init(path: Array(path.utf8)) }

  /// Opens a file whose path need not be UTF-8.
  ///
  /// - Throws: as above; `EINVAL` when there is a NUL in the path.
  package init(path: [UInt8]) throws(SystemError) {
    guard !path.contains(0) else { throw SystemError(errno: EINVAL, call: "open") }
    let terminated = path.map { CChar(bitPattern: $0) } + [0]
    // SAFETY: the path ends in a NUL and is lent for the call. O_NONBLOCK: opening a pipe does not wait for its writer.
    descriptor = try FileDescriptor(
      checking: unsafe open(terminated, O_RDONLY | O_CLOEXEC | O_NONBLOCK), "open")
    var status = stat()
    // SAFETY: the kernel writes one `stat`, which lives for the call.
    guard unsafe fstat(descriptor.number, &status) == 0 else { throw SystemError.last("fstat") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: byteCount = Int64(status.st_size)
    case S_IFDIR: throw SystemError(errno: EISDIR, call: "open")
    default: throw SystemError(errno: ESPIPE, call: "open")
    }
  }

  /// Reads on: appends at most so many bytes. Returns how many there were; 0 at the file's end.
  package func read(_ maximum: Int, appendingTo buffer: inout [UInt8]) throws(SystemError) -> Int {
    let start = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: maximum))
    while true {
      // SAFETY: the kernel writes at most `maximum` bytes from `start` on, which are there.
      let count = unsafe buffer.withUnsafeMutableBytes { all in
        let space = unsafe UnsafeMutableRawBufferPointer(rebasing: all[start...])
        return unsafe systemRead(descriptor.number, space)
      }
      if count < 0, lastErrno == EINTR { continue }
      let failure = lastErrno
      buffer.removeLast(maximum - max(0, count))
      guard count >= 0 else { throw SystemError(errno: failure, call: "read") }
      return count
    }
  }
}

// SAFETY: the caller lends memory that lives for the call; no more than it holds is written.
@unsafe private func systemRead(_ number: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  #if canImport(Musl)
    return unsafe Musl.read(number, buffer.baseAddress, buffer.count)
  #else
    return unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
  #endif
}
