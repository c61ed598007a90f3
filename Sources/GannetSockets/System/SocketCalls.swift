import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// The calls on sockets that take pointers. Where they return a number below zero, `lastErrno` says why.

/// Receives into the front of the buffer; 0 is the end of the stream.
func receiveBytes(_ descriptor: CInt, into buffer: inout MutableSpan<UInt8>) -> Int {
  // SAFETY: the span is ours alone for the call, and its length goes with it.
  unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
}

/// Sends the bytes from `start` on, as many as there is room for. A broken connection raises no signal.
func sendBytes(_ descriptor: CInt, _ bytes: Span<UInt8>, from start: Int) -> Int {
  // SAFETY: `rebasing` and the slice check the bounds; the span lives for the call.
  unsafe bytes.withUnsafeBytes { all in
    let rest = unsafe UnsafeRawBufferPointer(rebasing: all[start...])
    return unsafe send(descriptor, rest.baseAddress, rest.count, Platform.noSignal)
  }
}

/// Makes a stream socket of the address's family, that doesn't block and isn't inherited.
func makeStreamSocket(for address: SocketAddress) throws(SystemError) -> FileDescriptor {
  try FileDescriptor(
    checking: socket(address.family, Platform.stream | Platform.nonBlocking, 0), "socket")
}

/// Begins to connect. Returns whether it is under way or done.
///
/// - Throws: what failed at once.
func beginConnecting(_ descriptor: CInt, to address: SocketAddress) throws(SystemError) {
  // SAFETY: the address and its length belong together, and live for the call.
  let status = try unsafe address.withSystemAddress {
    unsafe connect(descriptor, $0, $1) == 0 ? 0 : lastErrno
  }
  guard status == 0 || status == EINPROGRESS || status == EINTR else {
    throw SystemError(errno: status, call: "connect")
  }
}

/// Binds a socket to its address and listens there.
func beginListening(_ descriptor: CInt, at address: SocketAddress, backlog: CInt) throws(SystemError) {
  // Without it a port is free again only a minute after its last connection.
  if address.port != nil { setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) }
  // SAFETY: the address and its length belong together, and live for the call.
  guard try unsafe address.withSystemAddress({ unsafe bind(descriptor, $0, $1) }) == 0 else {
    throw SystemError.last("bind")
  }
  guard listen(descriptor, backlog) == 0 else { throw SystemError.last("listen") }
}

/// Sets an option that is a number. What a kernel doesn't have stays off: the bytes are the same without it.
func setOption(_ descriptor: CInt, _ level: CInt, _ name: CInt, _ value: CInt) {
  var value = value
  // SAFETY: reads the value, which lives for the call, by its size.
  unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
}

/// Closing the socket will reset the connection.
func resetWhenClosed(_ descriptor: CInt) {
  var hard = linger()
  hard.l_onoff = 1
  // SAFETY: reads the structure, which lives for the call, by its size.
  unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
}

/// The errno that a socket has waiting (a connect that failed); 0 when there is none.
func pendingError(_ descriptor: CInt) -> CInt {
  var status: CInt = 0
  var length = socklen_t(MemoryLayout<CInt>.size)
  // SAFETY: writes the number that lives here, by its size.
  guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &status, &length) == 0 else { return lastErrno }
  return status
}
