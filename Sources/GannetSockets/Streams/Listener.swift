import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A listening socket on a loop: for the demo, for `serve`, and for tests. Letting it go closes it.
package final class Listener: EventSource {
  /// What it listens on, with the port that the system chose.
  package let address: SocketAddress
  /// Called in the loop's turn with each connection.
  package var onAccept: ((StreamSocket) -> Void)?

  private var descriptor: FileDescriptor?
  private let poller: Poller
  private var token = Poller.Token(index: .max, generation: .max)
  private var retry: LoopTimer?

  /// Listens on an address of this machine; port 0 lets the system choose one.
  ///
  /// - Throws: what `socket`, `bind` or `listen` reports. A Unix socket's path must not exist; it is the caller who
  ///   removes it.
  package init(
    on loop: EventLoop, at wanted: SocketAddress = .loopback, backlog: CInt = 128
  ) throws(SystemError) {
    poller = loop.poller
    let descriptor = try makeStreamSocket(for: wanted)
    let number = descriptor.number
    try beginListening(number, at: wanted, backlog: backlog)
    address = SocketAddress(of: number, peer: false) ?? wanted
    self.descriptor = consume descriptor
    token = try poller.add(number, self, writable: false)
    retry = loop.makeTimer { [weak self] loop in self?.ready(.readable, on: loop) }
  }

  deinit {
    close()
  }

  /// The port; 0 for a Unix socket.
  package var port: UInt16 { address.port ?? 0 }

  package func ready(_ readiness: Readiness, on loop: EventLoop) {
    while let number = descriptor?.number {
      let accepted = accept4(number, nil, nil, Platform.nonBlocking)
      guard accepted >= 0 else {
        switch lastErrno {
        case EAGAIN: return
        case EINTR, ECONNABORTED, EPROTO, EPERM: continue  // that connection is gone; the next one
        default:
          // Out of descriptors, most likely: the edge is used up, and nothing says when there are some again.
          retry?.schedule(at: loop.now + .milliseconds(100))
          return
        }
      }
      let connection = FileDescriptor(owning: accepted)
      let peer = SocketAddress(of: accepted, peer: true) ?? address
      // Without room for a registration the connection is closed, and its peer sees that.
      guard let socket = try? StreamSocket(owning: connection, peer: peer, poller: poller) else { continue }
      onAccept?(socket)
    }
  }

  /// Listens no more.
  package func close() {
    guard descriptor != nil else { return }
    poller.remove(token)
    retry = nil
    onAccept = nil
    descriptor = nil
  }
}
