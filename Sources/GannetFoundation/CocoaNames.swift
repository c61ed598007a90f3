public import Gannet

// The names that Cocoa's Objective-C documents use. They stand beside Foundation's own on Linux, which leaves these to
// FoundationNetworking: a file that imports that module too writes the names without `NS`, with `Gannet.` before them.

/// Cocoa's name for `URLConnection`.
public typealias NSURLConnection = URLConnection
/// Cocoa's name for `URLConnectionDelegate`.
public typealias NSURLConnectionDelegate = URLConnectionDelegate
/// Cocoa's name for `URLConnectionDataDelegate`.
public typealias NSURLConnectionDataDelegate = URLConnectionDataDelegate
/// Cocoa's name for `URLDownload`.
public typealias NSURLDownload = URLDownload
/// Cocoa's name for `URLDownloadDelegate`.
public typealias NSURLDownloadDelegate = URLDownloadDelegate
/// Cocoa's name for `URLRequest`, which is a value here.
public typealias NSURLRequest = URLRequest
/// Cocoa's name for a `URLRequest` in a `var`.
public typealias NSMutableURLRequest = URLRequest
/// Cocoa's name for `URLResponse`.
public typealias NSURLResponse = URLResponse
/// Cocoa's name for `HTTPURLResponse`.
public typealias NSHTTPURLResponse = HTTPURLResponse
/// Cocoa's name for `CachedURLResponse`, which is a value here.
public typealias NSCachedURLResponse = CachedURLResponse
/// Cocoa's name for `URLCache`.
public typealias NSURLCache = URLCache
/// Cocoa's name for `HTTPCookie`, which is a value here.
public typealias NSHTTPCookie = HTTPCookie
/// Cocoa's name for the keys of `HTTPCookie(properties:)`.
public typealias NSHTTPCookiePropertyKey = HTTPCookiePropertyKey
/// Cocoa's name for `HTTPCookieStorage`.
public typealias NSHTTPCookieStorage = HTTPCookieStorage
/// Cocoa's name for `URLCredential`.
public typealias NSURLCredential = URLCredential
/// Cocoa's name for `URLCredentialStorage`.
public typealias NSURLCredentialStorage = URLCredentialStorage
/// Cocoa's name for `URLProtectionSpace`.
public typealias NSURLProtectionSpace = URLProtectionSpace
/// Cocoa's name for `URLAuthenticationChallenge`.
public typealias NSURLAuthenticationChallenge = URLAuthenticationChallenge
/// Cocoa's name for `URLAuthenticationChallengeSender`.
public typealias NSURLAuthenticationChallengeSender = URLAuthenticationChallengeSender
/// Cocoa's name for `URLProtocol`.
public typealias NSURLProtocol = URLProtocol
/// Cocoa's name for `URLProtocolClient`.
public typealias NSURLProtocolClient = URLProtocolClient
