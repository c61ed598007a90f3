#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file that is written from its beginning to its end, and has its place only once it is whole; until then it has a
/// name of its own in the same folder. Removed when it is let go before that. From any thread.
///
/// Writing blocks the caller, as short as a disk's cache is. A character device, such as `/dev/null`, is written to as
/// it is: there is nothing to move or to remove.
package final class NewFile: Sendable {
  private enum State: Sendable {
    case open(CInt)
    /// Whole, or removed: what is written goes nowhere.
    case closed
  }

  /// Where the bytes go until the file is whole.
  private let partialPath: String
  /// Where the file is once it is whole.
  package let path: String
  private let isDevice: Bool
  private let state: Guarded<State>

  /// Creates a file, of mode 0600, that will be at `path`, in place of the file there. A symbolic link is followed.
  ///
  /// - Throws: what the system said; `EISDIR` where there is a folder, `ESPIPE` where there is anything else that is
  ///   neither a regular file nor a character device; `EINVAL` when there is a NUL in the path.
  package init(at path: String) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError(errno: EINVAL, call: "open") }
    var status = stat()
    // SAFETY: the path is lent as a C string, and the kernel writes one `stat`; both live for the call.
    let isThere = unsafe stat(path, &status) == 0
    guard isThere || lastErrno == ENOENT else { throw SystemError.last("stat") }
    // SAFETY: as above.
    let isLink = unsafe !isThere && lstat(path, &status) == 0
    if isLink { throw SystemError(errno: ENOENT, call: "stat") }
    isDevice = isThere && status.st_mode & S_IFMT == S_IFCHR
    switch status.st_mode & S_IFMT {
    case _ where !isThere: self.path = path
    case S_IFCHR, S_IFREG: self.path = try NewFile.resolved(path)
    case S_IFDIR: throw SystemError(errno: EISDIR, call: "open")
    default: throw SystemError(errno: ESPIPE, call: "open")
    }
    partialPath = isDevice ? self.path : NewFile.name(in: NewFile.folder(of: self.path), ".gannet-", ".part")
    state = Guarded(.open(try NewFile.create(partialPath, isDevice ? 0 : O_CREAT | O_EXCL)))
  }

  /// Creates a file, of mode 0600, at `path`, which has that name at once; where there is something of this name, a
  /// number is added to it before its extension: `report-1.pdf`.
  ///
  /// - Throws: what the system said; `EEXIST` when a thousand such names are taken; `EINVAL` when there is a NUL in it.
  package init(besidesOthers path: String) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError(errno: EINVAL, call: "open") }
    var (candidate, number) = (path, 0)
    while true {
      do throws(SystemError) {
        state = Guarded(.open(try NewFile.create(candidate, O_CREAT | O_EXCL)))
        break
      } catch {
        guard error.errno == EEXIST, number < 1000 else { throw error }
      }
      number += 1
      candidate = NewFile.numbered(path, number)
    }
    self.path = candidate
    partialPath = candidate
    isDevice = false
  }

  /// Creates a file, of mode 0600, with a name of its own in a folder, which it keeps.
  package init(inFolder folder: String) throws(SystemError) {
    path = NewFile.name(in: folder, "gannet-", "")
    partialPath = path
    isDevice = false
    state = Guarded(.open(try NewFile.create(path, O_CREAT | O_EXCL)))
  }

  deinit { discard() }

  /// Writes all of the bytes, unless the file has been discarded.
  package func write(_ bytes: Span<UInt8>) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      guard case .open(let descriptor) = state else { return }
      var written = 0
      while written < bytes.count {
        let count = writeBytes(descriptor, bytes.extracting(written..<bytes.count))
        if count < 0, lastErrno == EINTR { continue }
        guard count >= 0 else { throw SystemError.last("write") }
        written += count
      }
    }
  }

  /// The file is whole: closes it and gives it its place.
  ///
  /// - Throws: what `close` said, which may be that bytes could not be written after all, or what `rename` said; the file
  ///   is removed then.
  package func finish() throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      guard case .open(let descriptor) = state else { return }
      state = .closed
      if close(descriptor) != 0, lastErrno != EINTR {
        let failure = SystemError.last("close")
        remove()
        throw failure
      }
      // SAFETY: both paths are lent as C strings for the call.
      let isMoved = unsafe partialPath == path || rename(partialPath, path) == 0
      guard isMoved else {
        let failure = SystemError.last("rename")
        remove()
        throw failure
      }
    }
  }

  /// Closes and removes the file, unless it is whole.
  package func discard() {
    state.withLock { state in
      guard case .open(let descriptor) = state else { return }
      state = .closed
      _ = close(descriptor)
      remove()
    }
  }

  private func remove() {
    // SAFETY: the path is lent as a C string for the call. What cannot be removed any more is somebody else's.
    if !isDevice { _ = unsafe unlink(partialPath) }
  }

  // MARK: Names

  private static func name(in folder: String, _ prefix: String, _ suffix: String) -> String {
    let digits = (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }
    return folder + (folder.hasSuffix("/") ? "" : "/") + prefix + digits.joined() + suffix
  }

  /// Bytes of the longest name that Linux file systems take.
  private static let longestName = 255
  /// Bytes of the longest extension that is kept, with its dot, where a name has to be cut.
  private static let longestExtension = 32

  /// The path with a number in its name, which is cut where it would be too long with it.
  private static func numbered(_ path: String, _ number: Int) -> String {
    let start = lastByte(UInt8(ascii: "/"), of: path).map { path.utf8.index(after: $0) } ?? path.startIndex
    var (stem, ending) = (path[start...].unicodeScalars, path[path.endIndex...])
    // A name that begins with its only dot has no extension.
    if let dot = lastByte(UInt8(ascii: "."), of: path), dot > start {
      (stem, ending) = (path[start..<dot].unicodeScalars, path[dot...])
    }
    let suffix = "-\(number)"
    var excess = Substring(stem).utf8.count + suffix.utf8.count + ending.utf8.count - longestName
    if excess > 0, ending.utf8.count > longestExtension {
      (stem, ending) = (path[start...].unicodeScalars, path[path.endIndex...])
    }
    while excess > 0, let last = stem.popLast() { excess -= UTF8.width(last) }
    return "\(path[..<start])\(Substring(stem))\(suffix)\(ending)"
  }

  private static func folder(of path: String) -> String {
    guard let slash = lastByte(UInt8(ascii: "/"), of: path) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Where the byte is last, as the kernel sees it: as a character a `/` before a combining accent is another one.
  private static func lastByte(_ byte: UInt8, of path: String) -> String.Index? {
    path.utf8.lastIndex(of: byte)
  }

  private static func resolved(_ path: String) throws(SystemError) -> String {
    // SAFETY: the path is lent as a C string; realpath allocates the result, which is copied and freed here.
    guard let real = unsafe realpath(path, nil) else { throw SystemError.last("realpath") }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  private static func create(_ path: String, _ flags: CInt) throws(SystemError) -> CInt {
    // SAFETY: the path is lent as a C string for the call.
    let number = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0o600)
    guard number >= 0 else { throw SystemError.last("open") }
    return number
  }
}

private func writeBytes(_ descriptor: CInt, _ bytes: Span<UInt8>) -> Int {
  // SAFETY: the span lives for the call, and its length goes with it.
  unsafe bytes.withUnsafeBytes { buffer in
    #if canImport(Musl)
      unsafe Musl.write(descriptor, buffer.baseAddress, buffer.count)
    #else
      unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }
}
