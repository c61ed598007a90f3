import CLinux

/// What epoll said about a descriptor.
package struct Readiness: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  @inlinable @inline(__always) package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// There are bytes, an end of file or an error to receive.
  @inlinable @inline(__always) package static var readable: Readiness { Readiness(rawValue: 1) }
  /// There is room to send.
  @inlinable @inline(__always) package static var writable: Readiness { Readiness(rawValue: 2) }
  /// The peer sends no more (FIN); bytes it sent before may still be there.
  @inlinable @inline(__always) package static var peerClosed: Readiness { Readiness(rawValue: 4) }
  /// Both directions are over, or the connection failed: the next receive or send says how.
  @inlinable @inline(__always) package static var failed: Readiness { Readiness(rawValue: 8) }

  init(epollEvents events: UInt32) {
    var bits: UInt8 = 0
    if events & gannet_epoll_in != 0 { bits |= Readiness.readable.rawValue }
    if events & gannet_epoll_out != 0 { bits |= Readiness.writable.rawValue }
    if events & gannet_epoll_peer_closed != 0 {
      bits |= Readiness.peerClosed.rawValue | Readiness.readable.rawValue
    }
    if events & (gannet_epoll_error | gannet_epoll_hang_up) != 0 {
      bits |= Readiness.failed.rawValue | Readiness.readable.rawValue | Readiness.writable.rawValue
    }
    rawValue = bits
  }

  // The standard library's set algebra is not specialised here, and its tables are cold when a socket wakes the loop: so
  // what is asked at every event is asked of the bits.

  @inlinable @inline(__always) package func contains(_ member: Readiness) -> Bool {
    rawValue & member.rawValue == member.rawValue
  }
  /// Whether the peer has closed or the connection failed.
  @inlinable @inline(__always) package var isEnding: Bool {
    rawValue & (Readiness.peerClosed.rawValue | Readiness.failed.rawValue) != 0
  }
  /// Without `writable`.
  var withoutWritable: Readiness { Readiness(rawValue: rawValue & ~Readiness.writable.rawValue) }
}

/// What wants to hear of a descriptor's readiness.
package protocol EventSource: AnyObject {
  /// Called in the loop's turn, once per change (edge-triggered): what isn't taken now is not announced again.
  func ready(_ readiness: Readiness, on loop: EventLoop)
}
