internal import COpenSSL
internal import Synchronization

/// What connections of one trust configuration share: an `SSL_CTX` with its trusted authorities, or a server's
/// certificate. Made once, never changed, used from any thread.
// SAFETY: the SSL_CTX is private to this module, owned from `init` to `deinit`, and counts its references atomically.
@safe package final class TLSContext: Sendable {
  /// Which authorities are trusted.
  package enum Trust: Hashable, Sendable {
    /// Those of the system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
    case system
    /// Those in a PEM file; revocation lists in it are obeyed.
    case file(String)
    /// Those in a directory hashed by `openssl rehash`.
    case directory(String)
    /// Those in PEM text.
    case pem([UInt8])
    /// Anything is accepted, and nothing verified.
    case none
  }

  /// A version of TLS.
  package enum Version: Hashable, Sendable, Comparable {
    case tls12, tls13

    var number: Int32 { self == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION }
  }

  /// Whether connections of this context are the server's side.
  package let isServer: Bool

  // UNCHECKED: an SSL_CTX counts its references atomically and is only read once `init` has configured it.
  nonisolated(unsafe) let handle: OpaquePointer
  /// The protocol that a server selects whatever the client offers, with its length before it.
  private let forcedProtocol: ForcedProtocol?

  init(server isServer: Bool, versions: ClosedRange<Version>, forcing name: String? = nil) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the context is ours until `deinit`; every engine holds this object.
    guard let handle = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
      throw TLSError.configuration("no TLS context could be made")
    }
    unsafe self.handle = handle
    self.isServer = isServer
    forcedProtocol = name.map { ForcedProtocol($0) }
    unsafe gannet_SSL_CTX_set_min_proto_version(handle, versions.lowerBound.number)
    unsafe gannet_SSL_CTX_set_max_proto_version(handle, versions.upperBound.number)
    // A server's renegotiation is answered by the alert that refuses it; OpenSSL then goes on reading.
    unsafe SSL_CTX_set_options(handle, 1 << 30 | 1 << 17)  // SSL_OP_NO_RENEGOTIATION, SSL_OP_NO_COMPRESSION
    unsafe gannet_SSL_CTX_set_mode(
      handle,
      Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    // SAFETY: as above.
    // No read-ahead: the wire is memory, so that reading less at a time costs nothing, and no buffer is left half full.
    unsafe gannet_SSL_CTX_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_OFF))
    unsafe SSL_CTX_set_info_callback(handle, noteAlert)
    if isServer {
      // SAFETY: the argument lives as long as this context, which every engine keeps.
      unsafe SSL_CTX_set_alpn_select_cb(handle, selectProtocol, forcedProtocol?.bytes.baseAddress)
    }
  }

  deinit {
    // SAFETY: no engine is left; each held this object.
    unsafe SSL_CTX_free(handle)
  }
}

/// The memory that a server's selection callback reads.
// SAFETY: the memory is written in `init` only and lives until `deinit`; the context that lends it keeps this object.
@safe private final class ForcedProtocol: Sendable {
  // UNCHECKED: written in `init` only, freed in `deinit`.
  nonisolated(unsafe) let bytes: UnsafeMutableBufferPointer<UInt8>

  init(_ name: String) {
    let name = Array(name.utf8.prefix(255))
    // SAFETY: one byte of length and the name fill the allocation exactly.
    unsafe bytes = .allocate(capacity: name.count + 1)
    _ = unsafe bytes.initialize(from: [UInt8(name.count)] + name)
  }

  // SAFETY: the last use of the memory.
  deinit { unsafe bytes.deallocate() }
}

/// Selects `http/1.1` among the protocols that a client offers, or the one that the context forces.
private let selectProtocol: SSL_CTX_alpn_select_cb_func = { _, out, outCount, offer, offerCount, forced in
  // SAFETY: OpenSSL lends the client's offer, in whose bytes the answer lies; `forced` is the context's.
  if let forced = unsafe forced?.assumingMemoryBound(to: UInt8.self) {
    unsafe out?.pointee = UnsafePointer(forced + 1)
    unsafe outCount?.pointee = forced[0]
    return SSL_TLSEXT_ERR_OK
  }
  let offered = unsafe UnsafeBufferPointer(start: offer, count: Int(offerCount))
  let wanted = "http/1.1".utf8
  var index = 0
  while index < offered.count {
    let count = Int(unsafe offered[index])
    guard index + 1 + count <= offered.count else { return SSL_TLSEXT_ERR_NOACK }
    if unsafe UnsafeBufferPointer(rebasing: offered[(index + 1)..<(index + 1 + count)]).elementsEqual(wanted)
    {
      unsafe out?.pointee = offer.map { unsafe $0 + index + 1 }
      unsafe outCount?.pointee = UInt8(count)
      return SSL_TLSEXT_ERR_OK
    }
    index += 1 + count
  }
  return SSL_TLSEXT_ERR_NOACK
}

/// Remembers that a renegotiation was refused, to explain what the server does then.
private let noteAlert: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { connection, place, value in
  guard place & SSL_CB_WRITE_ALERT == SSL_CB_WRITE_ALERT, value & 0xff == Alert.noRenegotiation else {
    return
  }
  // SAFETY: OpenSSL calls this within a call of the engine, which owns the connection and its wire.
  guard let connection = unsafe connection, let wire = unsafe Wire.of(connection) else { return }
  unsafe wire.pointee.refusedRenegotiation = true
}
