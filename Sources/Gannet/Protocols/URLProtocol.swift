import GannetSockets
import Synchronization

/// What answers a request: a class of yours that stands in for the network, or for a scheme of its own (Apple's
/// `URLProtocol`).
///
/// Subclass it, override `canInit(with:)`, `startLoading()` and `stopLoading()`, and register the class, for all loads
/// (`registerClass(_:)`) or for those of a configuration (`Configuration.protocolClasses`). A load asks the
/// configuration's classes in their order, then the registered ones, the last registered first; `http` and `https` go to
/// the network, and `file` and `data` to what is built in, where none of them takes the request. So a class can answer
/// for the network in a test.
///
/// An object serves one load. It is made and its methods are called on the load's host, never inside each other; it may
/// call its `client` from any thread. Whatever it says, and when, the load keeps its contract: a response comes before
/// data, there is one end and nothing after it. What it says after the end or after `stopLoading()` is not heard; data
/// or an end before a response, and a redirect or a challenge after one, fail the load with `badServerResponse`.
///
/// A subclass has to restate `@unchecked Sendable`.
// UNCHECKED: open, so the compiler cannot check it; what is here does not change.
open class URLProtocol: @unchecked Sendable {
  /// The request to answer, as `canonicalRequest(for:)` and the delegate made it.
  public final let request: URLRequest
  /// Whom to tell what comes. It may be called from any thread.
  public final let client: (any URLProtocolClient)?

  /// Makes an object for one load. Called by the load.
  public required init(request: URLRequest, client: (any URLProtocolClient)?) {
    self.request = request
    self.client = client
  }

  /// Whether this class answers the request. Called on any thread, before the load begins and for each redirect; by
  /// default false.
  open class func canInit(with request: URLRequest) -> Bool { false }

  /// The canonical form of a request that this class takes; by default the request itself. Where they differ the delegate
  /// is asked first (`willSend`, with a nil response).
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Begins to answer. The load's inactivity time-out runs from here and from each call of the client.
  ///
  /// By default the load fails with `unsupportedURL`.
  open func startLoading() {
    client?.urlProtocol(
      self,
      didFailWithError: ConnectionError(
        .unsupportedURL, phase: .preparing, url: request.safeURLString,
        reason: "the protocol class \(type(of: self)) does not override startLoading()"))
  }

  /// The load has ended, was cancelled or goes on elsewhere: stop working for it. Called once after `startLoading()`,
  /// whatever the end was.
  open func stopLoading() {}

  /// More data waits for the delegate than is good for memory (256 KiB): stop until `resumeLoading()`. Called inside the
  /// client's `didLoad`, on the thread that called it. It returns at once: `resumeLoading()` is not called before it has.
  /// By default nothing, and what is loaded meanwhile is kept. Not in
  /// Cocoa.
  open func pauseLoading() {}

  /// The delegate has taken most of what waited: go on. Called on the load's host. Not in Cocoa.
  open func resumeLoading() {}
}

extension URLProtocol {
  private static let registry = Guarded<[URLProtocol.Type]>([])
  /// Spares the loads of a program without such classes the lock.
  private static let isRegistryEmpty = Atomic<Bool>(true)

  /// Has all loads that begin from now on ask this class, before the ones registered so far. From any thread. One that
  /// is registered already moves to the front.
  ///
  /// - Returns: false for `URLProtocol` itself, which answers nothing.
  @discardableResult
  public static func registerClass(_ protocolClass: URLProtocol.Type) -> Bool {
    guard protocolClass != URLProtocol.self else { return false }
    registry.withLock { classes in
      classes.removeAll { $0 == protocolClass }
      classes.insert(protocolClass, at: 0)
      isRegistryEmpty.store(false, ordering: .releasing)
    }
    return true
  }

  /// Has loads that begin from now on pass this class by; the ones it answers go on. From any thread. Does nothing when
  /// it is not registered.
  public static func unregisterClass(_ protocolClass: URLProtocol.Type) {
    registry.withLock { classes in
      classes.removeAll { $0 == protocolClass }
      isRegistryEmpty.store(classes.isEmpty, ordering: .releasing)
    }
  }

  /// Whether anybody may stand in for what is built in.
  static func isAsked(_ configuration: URLConnection.Configuration) -> Bool {
    !configuration.protocolClasses.isEmpty || !isRegistryEmpty.load(ordering: .acquiring)
  }

  /// The class that answers this request in place of what is built in.
  static func standIn(
    for request: URLRequest, _ configuration: URLConnection.Configuration
  ) -> URLProtocol.Type? {
    guard isAsked(configuration) else { return nil }
    if let own = configuration.protocolClasses.first(where: { $0.canInit(with: request) }) { return own }
    // Asked outside the lock: their code may register others.
    return registry.withLock { $0 }.first { $0.canInit(with: request) }
  }
}

extension URLProtocol {
  /// What a protocol class has noted on a request under this name; nil when nothing.
  ///
  /// A class that passes its request on to the network marks it, so that it does not take it again.
  public static func property(forKey key: String, in request: URLRequest) -> (any Hashable & Sendable)? {
    request.properties?[key]?.value
  }

  /// Notes something on a request. It goes along into copies of the request, and into what redirects make of it, and is
  /// never sent.
  public static func setProperty(
    _ value: any Hashable & Sendable, forKey key: String, in request: inout URLRequest
  ) {
    request.properties = (request.properties ?? [:]).merging([key: RequestProperty(value: value)]) { $1 }
  }

  /// Takes away what was noted on a request under this name.
  public static func removeProperty(forKey key: String, in request: inout URLRequest) {
    guard var properties = request.properties, properties.removeValue(forKey: key) != nil else { return }
    if properties.isEmpty { request.properties = nil } else { request.properties = properties }
  }
}

/// Something noted on a request.
struct RequestProperty: Hashable, Sendable {
  let value: any Hashable & Sendable

  static func == (left: RequestProperty, right: RequestProperty) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
