import Dispatch
import FetchTool
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Every recording, cancelled in every callback and at a sample of its bytes, on the hosts that are no loop of the test's
/// own. Every byte is tried on such a loop (`CancelEverywhereTests`); here a turn costs a hundred times as much.
@Suite(.timeLimit(.minutes(1)), .serialized) struct CancelOnHostsTests {
  enum Place: String, CaseIterable { case serial, concurrent, shared }

  /// A host, and whether this is it.
  struct Here {
    let host: URLConnection.Host
    let isHere: @Sendable () -> Bool

    init(_ place: Place) {
      guard place != .shared else {
        host = .shared
        isHere = { EventLoop.shared.isCurrent }
        return
      }
      let key = DispatchSpecificKey<Bool>()
      let queue = DispatchQueue(label: "lifecycle", attributes: place == .concurrent ? .concurrent : [])
      queue.setSpecific(key: key, value: true)
      host = .queue(queue)
      isHere = { DispatchQueue.getSpecific(key: key) == true }
    }
  }

  private static func load(
    _ load: RecordedLoad, _ place: CancelPlace = .nowhere, on here: Here
  ) throws -> WatchedLoad {
    try WatchedLoad(
      of: load.request, from: ReplayProvider(load.recording, cuts: .asRecorded), load.answers, at: place,
      on: here.host, keepsIdle: false, isOnHost: here.isHere)
  }

  private static func check(_ watched: WatchedLoad, _ what: String) async throws -> Bool {
    let faults = try await watched.end()
    if !faults.isEmpty {
      Issue.record("\(what): \(faults.joined(separator: "; "))\n\(watched.watch.report.trace)")
    }
    return faults.isEmpty
  }

  @Test(arguments: Place.allCases, Fixtures.names)
  func everywhere(_ place: Place, _ name: String) async throws {
    let (load, here) = (try RecordedLoad(fixture: name), Here(place))
    let whole = try Self.load(load, on: here)
    guard try await Self.check(whole, "whole") else { return }
    let places = CancelPlace.sampled(
      calls: whole.watch.report.calls.count, bytes: whole.provider.received, seed: 5)
    for place in places {
      guard try await Self.check(Self.load(load, place, on: here), "\(place)") else { return }
    }
  }

  /// Eight threads cancel while the load runs, at whatever moment that is.
  @Test(arguments: Place.allCases, Fixtures.names)
  func byEightThreadsWhileItRuns(_ place: Place, _ name: String) async throws {
    let (load, here) = (try RecordedLoad(fixture: name), Here(place))
    for round in 0..<8 {
      let watched = try Self.load(load, on: here)
      for _ in 0..<round * round { await Task.yield() }
      await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            if let connection = watched.connection { watched.watch.cancelElsewhere(connection) }
          }
        }
      }
      guard try await Self.check(watched, "round \(round)") else { return }
    }
  }
}
