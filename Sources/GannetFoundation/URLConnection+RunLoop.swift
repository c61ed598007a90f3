public import Foundation
public import Gannet
import GannetSockets

extension URLConnection {
  /// Schedules a connection that has not been started on a run loop: all its callbacks come on that run loop's
  /// thread while it runs in one of the modes, and never otherwise (Apple's `schedule(in:forMode:)`).
  ///
  /// Modes add up: a second call for the same run loop adds its modes. A connection that was scheduled elsewhere (on
  /// another run loop, a queue, the host it was made with) moves here. Make the connection with
  /// `startImmediately: false`; after this call `start()` it. The run loop keeps a source while loads or connections
  /// kept for reuse are there. When its thread ends, loads that are live fail there.
  ///
  /// - Throws: when the load has been started, the delegate belongs to another thread's actor, or the system has no
  ///   descriptors left.
  public func schedule(
    in runLoop: RunLoop, forModes modes: [RunLoop.Mode] = [.default]
  ) throws(ConnectionError) {
    try schedule { (current) throws(ConnectionError) in
      let before = RunLoopHosts.modes(of: current, in: runLoop)
      return (try host(in: runLoop, before.union(modes.map(\.rawValue))), true)
    }
  }

  /// As ``schedule(in:forModes:)`` with one mode: Apple's method.
  public func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) throws(ConnectionError) {
    try schedule(in: runLoop, forModes: [mode])
  }

  /// Takes a mode of a run loop away from a connection that has not been started (Apple's
  /// `unschedule(from:forMode:)`). Does nothing when it is not scheduled there, so a second time
  /// too, nor when the load is over.
  ///
  /// A connection that is left without any mode has no host: its `start()` waits until it is scheduled again, here or
  /// elsewhere. A load that has been started stays where it is until it ends: Cocoa code that wants it silent
  /// cancels it.
  ///
  /// - Throws: when the load is under way there.
  public func unschedule(from runLoop: RunLoop, forMode mode: RunLoop.Mode) throws(ConnectionError) {
    try schedule { (current) throws(ConnectionError) in
      var modes = RunLoopHosts.modes(of: current, in: runLoop)
      guard !isOver, modes.remove(mode.rawValue) != nil else { return (current, false) }
      return (modes.isEmpty ? nil : try host(in: runLoop, modes), true)
    }
  }

  private func host(in runLoop: RunLoop, _ modes: Set<String>) throws(ConnectionError) -> LoopHost {
    do throws(SystemError) { return try RunLoopHosts.host(in: runLoop, modes) } catch {
      throw ConnectionError(noHost: error, for: originalRequest)
    }
  }
}
