import CLinux

/// What epoll said about a descriptor.
package struct Readiness: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// There are bytes, an end of file or an error to receive.
  package static let readable = Readiness(rawValue: 1)
  /// There is room to send.
  package static let writable = Readiness(rawValue: 2)
  /// The peer sends no more (FIN); bytes it sent before may still be there.
  package static let peerClosed = Readiness(rawValue: 4)
  /// Both directions are over, or the connection failed: the next receive or send says how.
  package static let failed = Readiness(rawValue: 8)

  init(epollEvents events: UInt32) {
    var readiness: Readiness = []
    if events & gannet_epoll_in != 0 { readiness.insert(.readable) }
    if events & gannet_epoll_out != 0 { readiness.insert(.writable) }
    if events & gannet_epoll_peer_closed != 0 { readiness.formUnion([.peerClosed, .readable]) }
    if events & (gannet_epoll_error | gannet_epoll_hang_up) != 0 {
      readiness.formUnion([.failed, .readable, .writable])
    }
    self = readiness
  }
}

/// What wants to hear of a descriptor's readiness.
package protocol EventSource: AnyObject {
  /// Called in the loop's turn, once per change (edge-triggered): what isn't taken now is not announced again.
  func ready(_ readiness: Readiness, on loop: EventLoop)
}
