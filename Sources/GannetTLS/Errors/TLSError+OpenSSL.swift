internal import COpenSSL

extension TLSError {
  /// The oldest error in OpenSSL's queue of this thread, for a set-up step that failed. Empties the queue.
  static func configuration(_ sentence: String) -> TLSError {
    let code = takeFirstError()
    guard code != 0 else { return TLSError(.configuration, sentence) }
    return TLSError(.configuration, code: code, "\(sentence): \(words(of: code))")
  }

  /// Takes the error that says most, and empties this thread's queue: the first of the TLS library's (a cipher's own
  /// error before it says nothing to a person), else the first of all.
  static func takeFirstError() -> UInt {
    let first = ERR_get_error()
    var code = first
    while code != 0, tlsReason(of: code) == nil { code = ERR_get_error() }
    ERR_clear_error()
    return code == 0 ? first : code
  }

  /// OpenSSL's own words for a packed error, or the system's when it is one of those.
  static func words(of code: UInt) -> String {
    // OpenSSL 3 marks an error of the system by bit 31; the rest is its errno.
    let systemError: UInt = 0x8000_0000
    // SAFETY: the words are copied at once; both C libraries keep them per thread or for ever.
    if code & systemError != 0, let words = unsafe strerror(Int32(truncatingIfNeeded: code & ~systemError)) {
      return unsafe String(cString: words)
    }
    // SAFETY: the answer is a constant string, or nil.
    guard let words = unsafe ERR_reason_error_string(code) else { return "error \(code)" }
    return unsafe String(cString: words)
  }

  /// The reason's number within its library, and whether the library is the TLS one.
  static func tlsReason(of code: UInt) -> Int32? {
    // OpenSSL 3 packs the library in bits 23 to 30 and the reason in the 23 bits below.
    guard (code >> 23) & 0xff == UInt(ERR_LIB_SSL) else { return nil }
    return Int32(truncatingIfNeeded: code & 0x7f_ffff)
  }
}
