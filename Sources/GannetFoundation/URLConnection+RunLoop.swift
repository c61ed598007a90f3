public import Foundation
public import Gannet
import GannetSockets

extension URLConnection {
  /// Schedules a connection that has not been started on a run loop: all its callbacks come on that run loop's
  /// thread while it runs in one of the modes, and never otherwise (Apple's `schedule(in:forMode:)`).
  ///
  /// Make the connection with `startImmediately: false`; after this call `start()` it. The run loop keeps a source
  /// while loads or connections kept for reuse are there. When its thread ends, loads that are live fail there.
  ///
  /// - Throws: when the load has been started, or the system has no descriptors left.
  public func schedule(
    in runLoop: RunLoop, forModes modes: [RunLoop.Mode] = [.default]
  ) throws(ConnectionError) {
    let host: LoopHost
    do throws(SystemError) { host = try RunLoopHosts.host(in: runLoop, modes) } catch {
      throw ConnectionError(noHost: error, for: originalRequest)
    }
    try schedule(in: host)
  }

  /// As ``schedule(in:forModes:)`` with one mode: Apple's method.
  public func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) throws(ConnectionError) {
    try schedule(in: runLoop, forModes: [mode])
  }
}
