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

  /// 127.0.0.1, a port that the system chooses.
  package static let loopback = SocketAddress.ipv4(0x7f00_0001, port: 0)
  /// ::1, a port that the system chooses.
  package static let loopback6 = SocketAddress.ipv6(high: 0, low: 1, zone: 0, port: 0)

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
}

extension SocketAddress: CustomStringConvertible {
  /// `127.0.0.1:80`, `[::1]:80` (RFC 5952 section 6), or the path.
  package var description: String {
    switch self {
    case .ipv4(_, let port): "\(host):\(port)"
    case .ipv6(_, _, _, let port): "[\(host)]:\(port)"
    case .unix(let path): path
    }
  }

  /// The address without its port: `127.0.0.1`, `::1`, with a zone `fe80::1%2`; the path of a Unix socket.
  package var host: String {
    guard case .ipv6(_, _, let zone, _) = self, zone != 0 else { return numericHost }
    return "\(numericHost)%\(zone)"
  }
}
