import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Where a stream socket listens.
package enum SocketAddress: Hashable, Sendable {
  /// The address as a number, its first byte in the highest place.
  case ipv4(UInt32, port: UInt16)
  /// The address as two numbers, its first byte in the highest place of `high`; the zone is an interface's index, or 0.
  case ipv6(high: UInt64, low: UInt64, zone: UInt32, port: UInt16)
  /// A path in the file system.
  case unix(path: String)

  /// A numeric host: four decimal numbers, or an IPv6 address without brackets that may have a `%zone`. Nil for
  /// anything else, a name above all.
  package init?(numericHost host: String, port: UInt16) {
    guard !host.utf8.contains(0) else { return nil }
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
      let name = String(parts[1])
      zone = unsafe UInt32(name) ?? if_nametoindex(name)
      guard zone != 0 else { return nil }
    }
    self = SocketAddress(ipv6, zone: zone, port: port)
  }

  private init(_ address: in6_addr, zone: UInt32, port: UInt16) {
    // SAFETY: an in6_addr is 16 bytes, read here at 0 and 8.
    let (high, low) = unsafe withUnsafeBytes(of: address) { bytes in
      unsafe (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self = .ipv6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), zone: zone, port: port)
  }

  /// An IPv4 or IPv6 address as the C library gives it, with this port; nil for another family.
  ///
  /// - Parameter address: points to a whole address of the family that it names.
  @unsafe init?(_ address: UnsafePointer<sockaddr>, port: UInt16?) {
    // SAFETY: the caller vouches that the address is as long as its family says; both are read as unaligned copies.
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

  /// The port; nil for a Unix socket.
  package var port: UInt16? {
    switch self {
    case .ipv4(_, let port), .ipv6(_, _, _, let port): port
    case .unix: nil
    }
  }

  /// The family, as `socket` takes it.
  var family: CInt {
    switch self {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }

  /// Whether the address is this machine's own (127.0.0.0/8, ::1).
  package var isLoopback: Bool {
    switch self {
    case .ipv4(let address, _): address >> 24 == 127
    case .ipv6(let high, let low, _, _): high == 0 && low == 1
    case .unix: false
    }
  }

  /// Lends the address as the system calls take it.
  ///
  /// - Throws: `ENAMETOOLONG` for a path of more than 107 bytes, `EINVAL` for one that is empty or contains NUL.
  func withSystemAddress<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws(SystemError) -> Result {
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
      // SAFETY: an in6_addr is 16 bytes, written here at 0 and 8.
      unsafe withUnsafeMutableBytes(of: &system.sin6_addr) { bytes in
        unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      return unsafe lend(&system, body)
    case .unix(let path):
      var system = sockaddr_un()
      system.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      guard !bytes.isEmpty, !bytes.contains(0) else { throw SystemError(errno: EINVAL, call: "connect") }
      // SAFETY: copies no more than fits, and leaves the terminator that the zeroed structure has.
      let isFitting = unsafe withUnsafeMutableBytes(of: &system.sun_path) { destination in
        guard bytes.count < destination.count else { return false }
        unsafe destination.copyBytes(from: bytes)
        return true
      }
      guard isFitting else { throw SystemError(errno: ENAMETOOLONG, call: "connect") }
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

extension SocketAddress: CustomStringConvertible {
  /// `127.0.0.1:80`, `[::1]:80`, or the path.
  package var description: String {
    switch self {
    case .ipv4(let address, let port):
      return [24, 16, 8, 0].map { String(address >> $0 & 0xff) }.joined(separator: ".") + ":\(port)"
    case .ipv6(let high, let low, let zone, let port):
      var address = in6_addr()
      // SAFETY: an in6_addr is 16 bytes, written here at 0 and 8; inet_ntop gets the length of its buffer, and
      // terminates what it writes.
      let text = unsafe withUnsafeMutableBytes(of: &address) { bytes in
        unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
          unsafe inet_ntop(AF_INET6, bytes.baseAddress, buffer.baseAddress, 64).map {
            unsafe String(cString: $0)
          }
        }
      }
      return "[\(text ?? "?")\(zone == 0 ? "" : "%\(zone)")]:\(port)"
    case .unix(let path): return path
    }
  }
}
