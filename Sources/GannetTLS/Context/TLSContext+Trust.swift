internal import COpenSSL

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

extension TLSContext {
  /// Reads the trusted authorities. Only for a context that is not shared yet.
  func loadTrust(_ trust: Trust) throws(TLSError) {
    ERR_clear_error()
    switch trust {
    case .system: try loadSystemTrust()
    case .file(let path): try load(file: path)
    case .directory(let path): try load(directory: path)
    case .pem(let text): try load(pem: text)
    case .none: break
    }
  }

  /// The environment's store where it names one; else the system's hashed directory, from which each authority is
  /// read when it is first needed (1.7 ms to begin); else the system's bundle, which is read whole (17 ms and more).
  private func loadSystemTrust() throws(TLSError) {
    let file = environment("SSL_CERT_FILE")
    let directories = environment("SSL_CERT_DIR")?.split(separator: ":").map(String.init) ?? []
    if file != nil || !directories.isEmpty {
      return try loadNamedTrust(file: file, directories: directories)
    }
    // SAFETY: both are constant strings.
    let builtDirectory = unsafe String(cString: X509_get_default_cert_dir())
    let builtFile = unsafe String(cString: X509_get_default_cert_file())
    let knownDirectories = [builtDirectory, "/etc/ssl/certs", "/etc/pki/tls/certs"]
    if let directory = knownDirectories.first(where: isHashedDirectory) {
      return try load(directory: directory)
    }
    let knownFiles = [
      builtFile, "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]
    if let file = knownFiles.first(where: isReadable) { return try load(file: file) }
    throw TLSError(
      .configuration,
      "the system has no trusted certificates: tried \((knownDirectories + knownFiles).joined(separator: ", "))",
      hint: "install ca-certificates, or name a file in SSL_CERT_FILE")
  }

  /// What the environment names: directories first, so that the file is what remains to be looked in.
  private func loadNamedTrust(file: String?, directories: [String]) throws(TLSError) {
    let found = directories.filter(isDirectory)
    for directory in found { try load(directory: directory) }
    if let file, isReadable(file) { return try load(file: file) }
    guard found.isEmpty else { return }
    var tried = directories.map { "SSL_CERT_DIR \($0)" }
    if let file { tried.append("SSL_CERT_FILE \(file)") }
    throw TLSError(.configuration, "no trusted certificates: tried \(tried.joined(separator: ", "))")
  }

  /// A C string ends at a NUL: what stands before it would be believed instead.
  private func checkPath(_ path: String) throws(TLSError) {
    guard !path.utf8.contains(0) else {
      throw TLSError(.configuration, "no trusted certificates: there is a NUL in the path \(path)")
    }
  }

  private func load(directory path: String) throws(TLSError) {
    try checkPath(path)
    guard isDirectory(path) else {
      throw TLSError(.configuration, "no trusted certificates: the directory \(path) cannot be read")
    }
    // SAFETY: the context is ours and not shared yet.
    guard unsafe SSL_CTX_load_verify_dir(handle, path) == 1 else {
      throw TLSError.configuration("no trusted certificates could be read from the directory \(path)")
    }
  }

  private func load(file path: String) throws(TLSError) {
    try checkPath(path)
    // SAFETY: the BIO is ours until freed.
    guard let bio = unsafe BIO_new_file(path, "r") else {
      throw TLSError.configuration("no trusted certificates: the file \(path) cannot be read")
    }
    defer { unsafe BIO_free(bio) }
    try unsafe load(bio, from: "the file \(path)")
  }

  private func load(pem text: [UInt8]) throws(TLSError) {
    // SAFETY: the BIO is ours until freed.
    let bio = try unsafe memoryBIO(text)
    defer { unsafe BIO_free(bio) }
    try unsafe load(bio, from: "the PEM text given")
  }

  /// Adds every certificate and revocation list of PEM text; a list turns revocation checking on.
  private func load(_ bio: OpaquePointer, from source: String) throws(TLSError) {
    // SAFETY: the list is ours until freed; the store takes references of its own.
    guard let entries = unsafe PEM_X509_INFO_read_bio(bio, nil, nil, nil) else {
      throw TLSError.configuration("no trusted certificates could be read from \(source)")
    }
    defer { unsafe gannet_sk_X509_INFO_pop_free(entries) }
    let store = unsafe SSL_CTX_get_cert_store(handle)
    var certificates = 0
    for index in 0..<max(0, unsafe gannet_sk_X509_INFO_num(entries)) {
      guard let entry = unsafe gannet_sk_X509_INFO_value(entries, index) else { continue }
      if let certificate = unsafe entry.pointee.x509, unsafe X509_STORE_add_cert(store, certificate) == 1 {
        certificates += 1
      }
      if let list = unsafe entry.pointee.crl, unsafe X509_STORE_add_crl(store, list) == 1 {
        unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(handle), UInt(X509_V_FLAG_CRL_CHECK))
      }
    }
    guard certificates > 0 else { throw TLSError(.configuration, "there is no certificate in \(source)") }
    ERR_clear_error()
  }
}

/// A read-only BIO over a copy of `bytes`. The caller frees it.
func memoryBIO(_ bytes: [UInt8]) throws(TLSError) -> OpaquePointer {
  // SAFETY: the BIO copies the bytes when they are written to it.
  guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw TLSError.configuration("no memory for a BIO") }
  let count = Int32(clamping: bytes.count)
  if count > 0, unsafe BIO_write(bio, bytes, count) != count {
    unsafe BIO_free(bio)
    throw TLSError.configuration("no memory for \(bytes.count) bytes of PEM text")
  }
  return unsafe bio
}

private func environment(_ name: String) -> String? {
  // SAFETY: the value is copied at once. (A program that changes its environment from another thread at this
  // moment breaks any reader of it.)
  guard let value = unsafe getenv(name) else { return nil }
  let text = unsafe String(cString: value)
  return text.isEmpty ? nil : text
}

// SAFETY: the path is a string that lives during the call.
private func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

private func isDirectory(_ path: String) -> Bool {
  // SAFETY: the directory is closed at once.
  guard let directory = unsafe opendir(path) else { return false }
  unsafe closedir(directory)
  return true
}

/// Whether `openssl rehash` has been here: an entry like `5ed36f99.0`.
private func isHashedDirectory(_ path: String) -> Bool {
  // SAFETY: the directory is ours until closed; an entry is read before the next call.
  guard let directory = unsafe opendir(path) else { return false }
  defer { unsafe closedir(directory) }
  while let entry = unsafe readdir(directory) {
    let isHash = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
      unsafe name.count > 10 && name[8] == UInt8(ascii: ".") && name[9] == UInt8(ascii: "0") && name[10] == 0
        && name[0..<8].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
    if isHash { return true }
  }
  return false
}
