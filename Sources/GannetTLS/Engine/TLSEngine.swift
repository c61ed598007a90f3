internal import COpenSSL

/// One TLS connection as a transformer of bytes: ciphertext and plaintext in, plaintext and ciphertext out. It
/// holds no descriptor, so it can neither block nor raise a signal, and it can carry another engine inside.
///
/// Use it on one thread at a time. After every call, also one that threw, what `drainCiphertext` gives must go to
/// the peer: an alert may explain the failure there.
// SAFETY: the connection and the wire are private to this module and owned from `init` to `deinit`; not Sendable, so one
// thread uses them at a time.
@safe package final class TLSEngine {
  /// What a read gave.
  package enum ReadResult: Hashable, Sendable {
    /// So many bytes of plaintext, at least 1.
    case bytes(Int)
    /// Nothing until more ciphertext is received.
    case wantsInput
    /// The peer said that nothing follows (close_notify): the data is complete.
    case closed
    /// The connection ended without that: the data may have been cut short by anyone on the path.
    case truncated
  }

  /// Kept because the connection's callbacks use what it owns.
  let context: TLSContext
  let serverName: ServerName?
  let connection: OpaquePointer
  let wire: UnsafeMutablePointer<Wire>
  let offeredProtocols: [String]

  /// Whether the handshake is done.
  package private(set) var isEstablished = false
  private var inputEnded = false
  /// The failure that ended the connection; every later call meets it again.
  private var failure: TLSError?

  private init(
    _ context: TLSContext, _ serverName: ServerName?, offering protocols: [String]
  ) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the connection owns the BIO, and both are freed before the wire in `deinit`.
    guard let connection = unsafe SSL_new(context.handle) else {
      throw TLSError.configuration("no TLS connection could be made")
    }
    let wire = UnsafeMutablePointer<Wire>.allocate(capacity: 1)
    unsafe wire.initialize(to: Wire())
    self.context = context
    self.serverName = serverName
    offeredProtocols = protocols
    unsafe self.connection = connection
    unsafe self.wire = wire
    guard let bio = unsafe WireBIO.make(over: wire) else {
      throw TLSError.configuration("no BIO could be made")
    }
    unsafe SSL_set_bio(connection, bio, bio)
    unsafe SSL_set_ex_data(connection, 0, wire)
  }

  /// The client's side of a connection to `serverName`, a DNS name or an address as a URL spells it. The server's
  /// certificate must hold that name, unless the context verifies nothing. `protocols` are offered by ALPN; none
  /// when empty. `verificationTime`, in seconds since 1970, stands in for now.
  package convenience init(
    client context: TLSContext, serverName: String, protocols: [String] = ["http/1.1"],
    verificationTime: Int64? = nil
  ) throws(TLSError) {
    let name = try ServerName(serverName)
    try self.init(context, name, offering: protocols)
    guard !context.isServer else { throw TLSError(.configuration, "a server's context cannot make a client") }
    // SAFETY: the connection is ours; OpenSSL copies what it is given.
    unsafe SSL_set_connect_state(connection)
    let parameters = unsafe SSL_get0_param(connection)
    guard unsafe name.require(in: parameters) else {
      throw TLSError.configuration("the host name \(name.text) cannot be checked")
    }
    if name.kind == .dns, unsafe gannet_SSL_set_tlsext_host_name(connection, name.text) != 1 {
      throw TLSError.configuration("the host name \(name.text) cannot be sent")
    }
    if let verificationTime { unsafe X509_VERIFY_PARAM_set_time(parameters, Int(verificationTime)) }
    unsafe gannet_SSL_set_tlsext_debug_callback(connection, noteSelectedProtocol)
    var offer: [UInt8] = []
    for name in protocols where 1...255 ~= name.utf8.count {
      offer.append(UInt8(name.utf8.count))
      offer.append(contentsOf: name.utf8)
    }
    // This call, unlike the others, answers 0 for success.
    // SAFETY: OpenSSL copies the offer.
    if !offer.isEmpty, unsafe SSL_set_alpn_protos(connection, offer, UInt32(offer.count)) != 0 {
      throw TLSError.configuration("the protocols cannot be offered")
    }
  }

  /// The server's side of a connection.
  package convenience init(server context: TLSContext) throws(TLSError) {
    try self.init(context, nil, offering: [])
    guard context.isServer else { throw TLSError(.configuration, "a client's context cannot make a server") }
    // SAFETY: the connection is ours.
    unsafe SSL_set_accept_state(connection)
  }

  deinit {
    // SAFETY: the connection frees its BIO and makes no call after this; then nothing refers to the wire.
    unsafe SSL_free(connection)
    unsafe wire.deinitialize(count: 1)
    unsafe wire.deallocate()
  }
}

// MARK: Ciphertext

extension TLSEngine {
  /// Takes ciphertext that came from the peer, keeping a copy until it is read.
  package func receive(_ ciphertext: Span<UInt8>) { receive(ciphertext) { _ in () } }

  /// Lends ciphertext that came from the peer to the calls made in `body`, which read it where it lies; only what
  /// they leave is copied. The cheapest way to receive: one buffer serves every connection of a thread.
  package func receive<Result, Failure: Error>(
    _ ciphertext: Span<UInt8>, then body: (TLSEngine) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // SAFETY: the loan ends within this call, while `ciphertext` is borrowed.
    unsafe wire.pointee.keepRest()
    unsafe ciphertext.withUnsafeBufferPointer { bytes in
      unsafe wire.pointee.lent = bytes.baseAddress
      unsafe wire.pointee.lentCount = bytes.count
    }
    noteFirstBytes(ciphertext)
    defer { unsafe wire.pointee.keepRest() }
    return try body(self)
  }

  /// The peer ended the connection: nothing is received after this.
  package func receivedEndOfFile() { inputEnded = true }

  /// Moves what must be sent to the peer to the end of `output`. An empty array is exchanged for the engine's,
  /// so that two arrays go back and forth and nothing is copied.
  package func drainCiphertext(into output: inout [UInt8]) {
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    if unsafe wire.pointee.output.isEmpty { return }
    if output.isEmpty {
      unsafe swap(&output, &wire.pointee.output)
    } else {
      unsafe output.append(contentsOf: wire.pointee.output)
      unsafe wire.pointee.output.removeAll(keepingCapacity: true)
    }
    if unsafe wire.pointee.output.capacity > Wire.keptOutputBytes { unsafe wire.pointee.output = [] }
  }

  /// Whether there is something to send.
  // SAFETY: the wire is ours, and no call into OpenSSL is running.
  package var hasCiphertext: Bool { unsafe !wire.pointee.output.isEmpty }

  /// Whether ciphertext was received and not read yet.
  // SAFETY: the wire is ours, and no call into OpenSSL is running.
  package var hasUnreadCiphertext: Bool { unsafe wire.pointee.hasInput || SSL_has_pending(connection) == 1 }

  /// Whether the peer has said that nothing follows (close_notify), also behind data that is not read yet.
  // SAFETY: the connection is ours.
  package var hasReceivedClose: Bool { unsafe SSL_get_shutdown(connection) & SSL_RECEIVED_SHUTDOWN != 0 }

  private func noteFirstBytes(_ ciphertext: Span<UInt8>) {
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    let wanted = 8 - (unsafe wire.pointee.firstBytes.count)
    guard wanted > 0, !isEstablished else { return }
    for index in 0..<min(wanted, ciphertext.count) {
      unsafe wire.pointee.firstBytes.append(ciphertext[index])
    }
  }
}

// MARK: Plaintext

extension TLSEngine {
  /// Goes on with the handshake as far as the ciphertext allows. True when it is done. Throws what failed.
  package func handshake() throws(TLSError) -> Bool {
    if let failure { throw failure }
    if isEstablished { return true }
    ERR_clear_error()
    // SAFETY: the connection is ours.
    let result = unsafe SSL_do_handshake(connection)
    if result == 1 {
      try checkProtocol()
      isEstablished = true
      return true
    }
    switch unsafe SSL_get_error(connection, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      guard inputEnded else { return false }
      throw fail(endedInHandshake())
    case SSL_ERROR_ZERO_RETURN: throw fail(endedInHandshake())
    default: throw fail(failureFromOpenSSL())
    }
  }

  /// Fills `destination` with plaintext as far as the ciphertext allows, going on with the handshake where it is
  /// not done. A failure behind plaintext is thrown by the next call.
  package func read(into destination: inout MutableSpan<UInt8>) throws(TLSError) -> ReadResult {
    if let failure { throw failure }
    guard try handshake() else { return .wantsInput }
    ERR_clear_error()
    var filled = 0
    var status = SSL_ERROR_NONE
    // SAFETY: OpenSSL writes at most the rest of the buffer, within this closure.
    unsafe destination.withUnsafeMutableBufferPointer { buffer in
      while filled < buffer.count, let base = buffer.baseAddress {
        var count = 0
        let result = unsafe SSL_read_ex(connection, base + filled, buffer.count - filled, &count)
        guard result == 1 else {
          status = unsafe SSL_get_error(connection, result)
          return
        }
        filled += count
      }
    }
    switch status {
    case SSL_ERROR_NONE: return filled > 0 ? .bytes(filled) : .wantsInput
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      guard filled == 0 else { return .bytes(filled) }
      return inputEnded ? .truncated : .wantsInput
    case SSL_ERROR_ZERO_RETURN: return filled > 0 ? .bytes(filled) : .closed
    default:
      let error = fail(failureFromOpenSSL())
      guard filled == 0 else { return .bytes(filled) }
      throw error
    }
  }

  /// Encrypts all of `plaintext`. The handshake must be done.
  package func write(_ plaintext: Span<UInt8>) throws(TLSError) {
    if let failure { throw failure }
    guard isEstablished else {
      throw TLSError(.configuration, "nothing can be sent before the handshake is done")
    }
    ERR_clear_error()
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    unsafe wire.pointee.reserveOutput(for: plaintext.count)
    var written = 0
    var status = SSL_ERROR_NONE
    // SAFETY: OpenSSL reads at most the rest of the buffer, within this closure; the wire takes all it writes.
    unsafe plaintext.withUnsafeBufferPointer { buffer in
      while written < buffer.count, let base = buffer.baseAddress {
        var count = 0
        let result = unsafe SSL_write_ex(connection, base + written, buffer.count - written, &count)
        guard result == 1 else {
          status = unsafe SSL_get_error(connection, result)
          return
        }
        written += count
      }
    }
    if status != SSL_ERROR_NONE { throw fail(failureFromOpenSSL()) }
  }

  /// Says that nothing follows (close_notify). Reading may go on. Does nothing before the handshake is done or
  /// after a failure.
  package func shutdown() {
    guard isEstablished, failure == nil else { return }
    ERR_clear_error()
    // SAFETY: the connection is ours; the wire takes all it writes, so the first call always queues the alert.
    unsafe SSL_shutdown(connection)
    ERR_clear_error()
  }

  private func checkProtocol() throws(TLSError) {
    if let error = unexpectedProtocol { throw fail(error) }
  }

  private func fail(_ error: TLSError) -> TLSError {
    failure = error
    return error
  }
}
