internal import COpenSSL

/// What an engine and OpenSSL's callbacks share: the ciphertext both ways, and what the callbacks noticed.
///
/// It lies in memory of its own, and the BIO and the connection hold its address: OpenSSL reads straight from the
/// receive buffer that the caller lends, so a connection that waits holds no buffer of ours at all.
// SAFETY: only `lent` is a pointer: `receive` of the engine sets it for one call and `keepRest` takes it away.
@safe struct Wire {
  /// Ciphertext lent for the current call, and how much of it is left.
  var lent: UnsafePointer<UInt8>?
  var lentCount = 0
  /// Ciphertext that an earlier call left unread, from `keptStart` on.
  var kept: [UInt8] = []
  var keptStart = 0
  /// Ciphertext to be sent.
  var output: [UInt8] = []
  /// The first bytes that came, to tell what a peer speaks that does not speak TLS.
  var firstBytes: [UInt8] = []
  /// The first failure of the peer's certificate.
  var refusal: (code: Int32, certificate: CertificateSummary)?
  /// The server asked for a client certificate.
  var certificateRequested = false
  /// The protocol that the server says it selected by ALPN.
  var selectedProtocol: String?
  /// The peer asked for a renegotiation and was refused.
  var refusedRenegotiation = false

  var hasInput: Bool { lentCount > 0 || keptStart < kept.count }

  /// Memory for ciphertext that is kept when there is none: enough for a request's head, so that a small request
  /// allocates nothing and a connection that waits holds little.
  static let keptOutputBytes = 4096

  /// Makes room for the records of `count` bytes of plaintext at once: one for each 16 KiB, with at most 64 bytes of
  /// its own.
  mutating func reserveOutput(for count: Int) {
    guard count > Wire.keptOutputBytes else { return }
    output.reserveCapacity(output.count + count + (count / 16_384 + 1) * 64)
  }

  /// The wire of a connection, which its engine stored there.
  static func of(_ connection: OpaquePointer) -> UnsafeMutablePointer<Wire>? {
    // SAFETY: place 0 holds the engine's wire for as long as the connection lives.
    unsafe SSL_get_ex_data(connection, 0)?.assumingMemoryBound(to: Wire.self)
  }

  /// Copies up to `count` bytes of ciphertext to `destination`, oldest first.
  mutating func read(into destination: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
    if keptStart < kept.count {
      let moved = min(count, kept.count - keptStart)
      // SAFETY: both ranges hold `moved` bytes; the caller's is OpenSSL's record buffer.
      unsafe kept.withUnsafeBufferPointer { bytes in
        if let base = bytes.baseAddress {
          unsafe destination.update(from: base + keptStart, count: moved)
        }
      }
      keptStart += moved
      if keptStart == kept.count {
        kept = []
        keptStart = 0
      }
      return moved
    }
    // SAFETY: `lent` holds `lentCount` bytes during the current call.
    guard let source = unsafe lent, lentCount > 0 else { return 0 }
    let moved = min(count, lentCount)
    // SAFETY: `lent` holds `lentCount` bytes during the current call.
    unsafe destination.update(from: source, count: moved)
    unsafe lent = source + moved
    lentCount -= moved
    return moved
  }

  /// Ends the loan, keeping what was not read.
  mutating func keepRest() {
    // SAFETY: `lent` still holds `lentCount` bytes: the loan ends with this call.
    if let source = unsafe lent, lentCount > 0 {
      if keptStart > 0 {
        kept.removeFirst(keptStart)
        keptStart = 0
      }
      // SAFETY: `lent` still holds `lentCount` bytes: the loan ends with this call.
      unsafe kept.append(contentsOf: UnsafeBufferPointer(start: source, count: lentCount))
    }
    // SAFETY: the loan is over.
    unsafe lent = nil
    lentCount = 0
  }
}

/// The BIO through which OpenSSL reads and writes a `Wire`.
enum WireBIO {
  // UNCHECKED: a BIO_METHOD is only read once it is made.
  private nonisolated(unsafe) static let method: OpaquePointer? = {
    // SAFETY: made once and never freed.
    guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "gannet wire") else {
      return nil
    }
    unsafe BIO_meth_set_create(method) { bio in
      unsafe BIO_set_init(bio, 1)
      return 1
    }
    unsafe BIO_meth_set_read_ex(method, read)
    unsafe BIO_meth_set_write_ex(method, write)
    unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    return unsafe method
  }()

  /// A BIO over `wire`, which must outlive it.
  static func make(over wire: UnsafeMutablePointer<Wire>) -> OpaquePointer? {
    // SAFETY: the method is made once and never freed; the caller keeps the wire longer than the BIO.
    guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return nil }
    unsafe BIO_set_data(bio, wire)
    return unsafe bio
  }

  private static let read:
    @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int, UnsafeMutablePointer<Int>?) -> Int32 =
      {
        bio, destination, count, moved in
        // SAFETY: the data is the wire that `make` set; OpenSSL lends `count` bytes at `destination`.
        unsafe gannet_BIO_clear_retry_flags(bio)
        guard let wire = unsafe BIO_get_data(bio)?.assumingMemoryBound(to: Wire.self),
          let destination = unsafe destination
        else { return 0 }
        let bytes = unsafe UnsafeMutableRawPointer(destination).assumingMemoryBound(to: UInt8.self)
        let read = unsafe wire.pointee.read(into: bytes, count)
        unsafe moved?.pointee = read
        guard read == 0 else { return 1 }
        unsafe gannet_BIO_set_retry_read(bio)
        return 0
      }

  private static let write:
    @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<Int>?) -> Int32 = {
      bio, source, count, moved in
      // SAFETY: the data is the wire that `make` set; OpenSSL lends `count` bytes at `source`.
      unsafe gannet_BIO_clear_retry_flags(bio)
      guard let wire = unsafe BIO_get_data(bio)?.assumingMemoryBound(to: Wire.self),
        let source = unsafe source
      else { return 0 }
      unsafe wire.pointee.output.append(contentsOf: UnsafeRawBufferPointer(start: source, count: count))
      unsafe moved?.pointee = count
      return 1
    }
}
