public import Foundation
public import Gannet

/// What Foundation says of a load's error: `error.localizedDescription` is its reason, and `error as NSError` has
/// Apple's domain, number and keys.
///
/// The conformances act in a program that links GannetFoundation, also in its files that import Foundation alone.
extension ConnectionError: LocalizedError {
  /// The reason: a sentence for a person.
  public var errorDescription: String? { reason }
}

extension ConnectionError: CustomNSError {
  /// `NSURLErrorDomain`.
  public static var errorDomain: String { NSURLErrorDomain }

  /// The number of the code: Apple's, as in `URLError.Code`. (Of the constants that Foundation on Linux has besides,
  /// `NSURLErrorSecureConnectionFailed` to `NSURLErrorClientCertificateRequired` are off by one.)
  public var errorCode: Int { code.rawValue }

  /// The reason (`NSLocalizedDescriptionKey`), the URL as text (Apple's deprecated
  /// `NSURLErrorFailingURLStringErrorKey`, which ported code reads: `NSErrorFailingURLStringKey`) and, where it is one,
  /// as `URL` (`NSURLErrorFailingURLErrorKey`), the whole of the error in a line (`NSDebugDescriptionErrorKey`),
  /// and for a failed system call an error of `NSPOSIXErrorDomain` with its `errno` (`NSUnderlyingErrorKey`).
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: reason,
      "NSErrorFailingURLStringKey": url,
      NSDebugDescriptionErrorKey: description,
    ]
    if let url = URL(string: url) { info[NSURLErrorFailingURLErrorKey] = url }
    if case .system(let errno) = cause {
      info[NSUnderlyingErrorKey] = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
    }
    return info
  }
}
