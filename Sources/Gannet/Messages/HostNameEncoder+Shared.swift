public import GannetHTTP
import Synchronization

#if IDN
  import GannetIDN
#endif

extension HostNameEncoder {
  /// What all loads of the process encode hosts beyond ASCII with (`http://bücher.example/`); nil when such URLs are
  /// refused with `badURL`.
  ///
  /// It is libidn2's when Gannet is built with the package trait `IDN`, else nil. `GannetFoundation` has another, of
  /// ICU's tables: `HostNameEncoder.shared = .foundation`. Set it before requests are made: a request's URL is read when
  /// the request is made. May be read and set on any thread.
  public static var shared: HostNameEncoder? {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  #if IDN
    private static let current = Mutex<HostNameEncoder?>(.libidn2)
  #else
    private static let current = Mutex<HostNameEncoder?>(nil)
  #endif
}
