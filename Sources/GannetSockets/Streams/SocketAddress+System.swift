import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension SocketAddress {
  // MARK: - Text

  /// A numeric host: four decimal numbers, or an IPv6 address without brackets that may have a `%zone`. Nil for
  /// anything else, a name above all.
  package init?(numericHost host: String, port: UInt16) {
    guard !host.utf8.contains(0) else { return nil }
    // SAFETY: inet_pton reads a terminated string and writes the structure of the family that is asked for;
    // if_nametoindex reads a terminated string.
    var ipv4 = in_addr()
    if unsafe inet_pton(AF_INET, host, &ipv4) == 1 {
      self = .ipv4(UInt32(bigEndian: ipv4.s_addr), port: port)
      return
    }
    let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    var ipv6 = in6_addr()
    guard unsafe inet_pton(AF_INET6, String(parts[0]), &ipv6) == 1 else { return nil }
    var zone: UInt32 = 0
    if parts.count == 2 {
      zone = unsafe UInt32(parts[1]) ?? if_nametoindex(String(parts[1]))
      guard zone != 0 else { return nil }
    }
    self = SocketAddress(ipv6, zone: zone, port: port)
  }

  /// The address alone, without port and zone; the path of a Unix socket.
  var numericHost: String {
    switch self {
    case .ipv4(let address, _):
      return [24, 16, 8, 0].map { String(address >> $0 & 0xff) }.joined(separator: ".")
    case .ipv6(let high, let low, _, _):
      var address = in6_addr(high: high, low: low)
      // SAFETY: inet_ntop reads the structure of the family that is named, and terminates what it writes to a buffer
      // whose length it gets.
      return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
        unsafe inet_ntop(AF_INET6, &address, buffer.baseAddress, 64).map { unsafe String(cString: $0) }
          ?? "::"
      }
    case .unix(let path): return path
    }
  }

  // MARK: - From the kernel and the C library

  private init(_ address: in6_addr, zone: UInt32, port: UInt16) {
    // SAFETY: an in6_addr is 16 bytes, read here at 0 and 8.
    let (high, low) = unsafe withUnsafeBytes(of: address) { bytes in
      unsafe (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self = .ipv6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), zone: zone, port: port)
  }

  // SAFETY: its caller vouches that the address is as long as its family says; both are read as unaligned copies.
  /// An IPv4 or IPv6 address, with this port or its own; nil for another family.
  @unsafe init?(_ address: UnsafePointer<sockaddr>, port: UInt16?) {
    // SAFETY: as above.
    let raw = unsafe UnsafeRawPointer(address)
    switch CInt(unsafe address.pointee.sa_family) {
    case AF_INET:
      let found = unsafe raw.loadUnaligned(as: sockaddr_in.self)
      self = .ipv4(
        UInt32(bigEndian: found.sin_addr.s_addr), port: port ?? UInt16(bigEndian: found.sin_port))
    case AF_INET6:
      let found = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
      self = SocketAddress(
        found.sin6_addr, zone: found.sin6_scope_id, port: port ?? UInt16(bigEndian: found.sin6_port))
    default: return nil
    }
  }

  /// This end of a socket, or the other one, as the kernel names it; nil for a Unix socket.
  init?(of descriptor: CInt, peer: Bool) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // SAFETY: the storage has room for every family, and its length is what the kernel is told.
    let found = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> SocketAddress? in
        let status =
          unsafe peer
          ? getpeername(descriptor, address, &length) : getsockname(descriptor, address, &length)
        return unsafe status == 0 ? SocketAddress(address, port: nil) : nil
      }
    }
    guard let found else { return nil }
    self = found
  }

  // MARK: - To the kernel

  /// Lends the address as the system calls take it.
  ///
  /// - Throws: `ENAMETOOLONG` for a path of more than 107 bytes, `EINVAL` for one that is empty or contains NUL.
  func withSystemAddress<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws(SystemError) -> Result {
    // SAFETY: `lend` gives each family's own structure and its length.
    switch self {
    case .ipv4(let address, let port):
      var system = sockaddr_in()
      system.sin_family = sa_family_t(AF_INET)
      system.sin_port = port.bigEndian
      system.sin_addr.s_addr = address.bigEndian
      return unsafe lend(&system, body)
    case .ipv6(let high, let low, let zone, let port):
      var system = sockaddr_in6()
      system.sin6_family = sa_family_t(AF_INET6)
      system.sin6_port = port.bigEndian
      system.sin6_scope_id = zone
      system.sin6_addr = in6_addr(high: high, low: low)
      return unsafe lend(&system, body)
    case .unix(let path):
      var system = try sockaddr_un(path: path)
      // SAFETY: as above.
      return unsafe lend(&system, body)
    }
  }

  private func lend<Address, Result>(
    _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    // SAFETY: every family's structure begins as a sockaddr does, and its own length goes with it.
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe body(address, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }
}

extension in6_addr {
  /// From its two halves, the first byte in the highest place of `high`.
  fileprivate init(high: UInt64, low: UInt64) {
    self.init()
    // SAFETY: an in6_addr is 16 bytes, written here at 0 and 8.
    unsafe withUnsafeMutableBytes(of: &self) { bytes in
      unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
      unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
  }
}

extension sockaddr_un {
  fileprivate init(path: String) throws(SystemError) {
    self.init()
    sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, !bytes.contains(0) else { throw SystemError(errno: EINVAL, call: "connect") }
    // SAFETY: copies no more than fits, and leaves the terminator that the zeroed structure has.
    let isFitting = unsafe withUnsafeMutableBytes(of: &sun_path) { destination in
      guard bytes.count < destination.count else { return false }
      unsafe destination.copyBytes(from: bytes)
      return true
    }
    guard isFitting else { throw SystemError(errno: ENAMETOOLONG, call: "connect") }
  }
}
