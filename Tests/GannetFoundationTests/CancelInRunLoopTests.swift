import FetchTool
import Foundation
import Gannet
import GannetFoundation
import GannetSockets
import TestSupport
import Testing

/// Every recording, cancelled in every callback and at a sample of its bytes, in a mode of a thread's run loop that
/// nothing else uses.
@Suite(.timeLimit(.minutes(1)), .serialized) struct CancelInRunLoopTests {
  private static let mode = RunLoop.Mode("gannet.test.lifecycle")

  /// Loads in this thread's run loop, and gives what was wrong.
  private static func run(_ load: RecordedLoad, _ place: CancelPlace = .nowhere) throws -> WatchedLoad {
    let thread = TestThread.current
    let watched = try WatchedLoad(
      of: load.request, from: ReplayProvider(load.recording, cuts: .asRecorded), load.answers, at: place,
      keepsIdle: false, schedule: { try $0.schedule(in: .current, forMode: mode) }
    ) { TestThread.current == thread && RunLoop.current.currentMode == mode }
    let limit = Date(timeIntervalSinceNow: 20)
    while !watched.census.living().isEmpty, Date() < limit {
      _ = RunLoop.current.run(mode: mode, before: limit)
    }
    return watched
  }

  private static func check(_ watched: WatchedLoad, _ what: String) -> Bool {
    let living = watched.census.living()
    let faults = watched.faults() + (living.isEmpty ? [] : ["\(living) left"])
    if !faults.isEmpty {
      Issue.record("\(what): \(faults.joined(separator: "; "))\n\(watched.watch.report.trace)")
    }
    return faults.isEmpty
  }

  @Test(arguments: Fixtures.names) func everywhere(_ name: String) async throws {
    let load = RecordedLoad(name, try Fixtures.recording(name).endingWhatIsUnfinished)
    try await TestThread.run {
      // Something that keeps the mode running between loads.
      RunLoop.current.add(Timer(timeInterval: 60, repeats: false) { _ in }, forMode: Self.mode)
      let whole = try Self.run(load)
      guard Self.check(whole, "whole") else { return }
      let places = CancelPlace.sampled(
        calls: whole.watch.report.calls.count, bytes: whole.provider.received, seed: 7)
      for place in places {
        guard Self.check(try Self.run(load, place), "\(place)") else { return }
      }
    }
  }
}
