import FetchTool
import FoundationEssentials
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Every recording, cancelled in every callback and at every byte, and broken at every byte, on a loop of its own:
/// whatever happens, the promises of docs/CONTRACT.md (rules 2 to 5) are kept and everything is let go.
///
/// Past 4 KiB the bytes are those of docs/INTERFACES.md (`--cut every`). At each byte one way is tried, the next byte's
/// being the next; with `GANNET_EVERY_WAY` in the environment all are.
@Suite(.longWork) struct CancelEverywhereTests {
  private static let triesAll = ProcessInfo.processInfo.environment["GANNET_EVERY_WAY"] != nil

  private static func ways<Way>(_ all: [Way], at place: Int) -> [Way] {
    triesAll ? all : [all[place % all.count]]
  }

  @Test(arguments: Fixtures.names) func atEveryCallback(_ name: String) throws {
    let load = try RecordedLoad(fixture: name)
    let whole = try OwnLoopRun(load)
    guard whole.check("whole") else { return }
    for number in 1...whole.report.calls.count {
      for place in [CancelPlace.callback(number), .callbackElsewhere(number)] {
        let run = try OwnLoopRun(load, place)
        guard run.check("\(place)") else { return }
        #expect(run.report.calls == Array(whole.report.calls.prefix(number)), "\(place)")
      }
    }
  }

  @Test(arguments: Fixtures.names) func atEveryByte(_ name: String) throws {
    let load = try RecordedLoad(fixture: name)
    for number in load.places {
      for isProcessed in Self.ways([false, true], at: number) {
        let byte = ReceivedByte(number, isProcessed: isProcessed)
        guard try OwnLoopRun(load, .byte(byte)).check("\(byte)") else { return }
      }
    }
  }

  /// Closed, reset, or silent until its time is over: the load ends once, by itself.
  @Test(arguments: Fixtures.names) func brokenAtEveryByte(_ name: String) throws {
    let load = try RecordedLoad(fixture: name)
    for connection in load.recording.connections {
      for place in load.places(connection: connection.number) {
        for ending in Self.ways([FaultPlan.Ending.endOfFile, .failure(errno: 104), .silence], at: place) {
          var plan = FaultPlan()
          plan.receiveEnds = (after: place, ending)
          guard try OwnLoopRun(load, plan: plan).check("\(ending) after \(place)") else { return }
        }
      }
    }
  }
}
