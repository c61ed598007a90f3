import COpenSSL
import GannetTLS

/// A TLS 1.2 server straight on OpenSSL, which does what an engine does not: ask for a new handshake.
@safe final class RawServer {
  private let context: OpaquePointer
  private let connection: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer

  init?(_ identity: CertificateIdentity) {
    guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
    unsafe gannet_SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION)
    unsafe RawServer.use(identity, context)
    guard let connection = unsafe SSL_new(context), let input = unsafe BIO_new(BIO_s_mem()),
      let output = unsafe BIO_new(BIO_s_mem())
    else { return nil }
    unsafe self.context = context
    unsafe self.connection = connection
    unsafe self.input = input
    unsafe self.output = output
    unsafe SSL_set_bio(connection, input, output)
    unsafe SSL_set_accept_state(connection)
  }

  deinit {
    unsafe SSL_free(connection)
    unsafe SSL_CTX_free(context)
  }

  private static func use(_ identity: CertificateIdentity, _ context: OpaquePointer) {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { return }
    defer { unsafe BIO_free(bio) }
    let text = identity.certificatePEM + identity.keyPEM
    unsafe BIO_write(bio, text, Int32(text.count))
    let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil)
    let key = unsafe PEM_read_bio_PrivateKey(bio, nil, nil, nil)
    unsafe SSL_CTX_use_certificate(context, certificate)
    unsafe SSL_CTX_use_PrivateKey(context, key)
    unsafe X509_free(certificate)
    unsafe EVP_PKEY_free(key)
  }

  /// Takes the client's ciphertext and gives the answer; the handshake, the first or a new one, goes on.
  func exchange(_ ciphertext: [UInt8]) -> [UInt8] {
    unsafe BIO_write(input, ciphertext, Int32(ciphertext.count))
    unsafe SSL_do_handshake(connection)
    var byte: UInt8 = 0
    unsafe SSL_read(connection, &byte, 1)
    return taken()
  }

  /// Sends plaintext.
  func write(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    unsafe SSL_write(connection, bytes, Int32(bytes.count))
    return taken()
  }

  /// Asks for a new handshake (HelloRequest).
  func renegotiate() -> [UInt8] {
    unsafe SSL_renegotiate(connection)
    unsafe SSL_do_handshake(connection)
    return taken()
  }

  private func taken() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe BIO_read(output, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(max(0, Int(count))))
  }
}
