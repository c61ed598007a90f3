import FetchTool
import Gannet
import GannetSockets
import TestSupport
import Testing

/// What came of one watched load on a loop of its own.
struct OwnLoopRun {
  /// The promises that were not kept.
  let faults: [String]
  let report: LoadWatch.Report
  /// Bytes of the server's that it received.
  let received: Int

  /// Loads a recording to its end, cancelled or broken as told, its time-outs without waiting for them; then looks what
  /// is left of it.
  init(_ load: RecordedLoad, _ place: CancelPlace = .nowhere, plan: FaultPlan? = nil) throws {
    weak var gone: EventLoop?
    let watched: WatchedLoad
    var faults: [String]
    do {
      let loop = try EventLoop()
      gone = loop
      let handle = loop.handle
      watched = try WatchedLoad(
        of: load.request, from: ReplayProvider(load.recording, cuts: .asRecorded), load.answers, at: place,
        plan: plan, on: .loop(handle)
      ) { handle.isCurrent }
      let isOver = loop.turnUntilIdle()
      faults = watched.faults() + (isOver ? [] : ["it is still live"])
      loop.shutDown()
    }
    let living = watched.census.living()
    if !living.isEmpty { faults.append("\(living) left when the loop has ended") }
    if gone != nil { faults.append("the loop is left") }
    self.faults = faults
    report = watched.watch.report
    received = watched.provider.received
  }

  /// Says what went wrong, once a test has found that something has.
  func check(_ what: @autoclosure () -> String, _ location: SourceLocation = #_sourceLocation) -> Bool {
    guard !faults.isEmpty else { return true }
    Issue.record(
      "\(what()): \(faults.joined(separator: "; "))\n\(report.trace.joined(separator: " | "))",
      sourceLocation: location)
    return false
  }
}

extension RecordedLoad {
  /// The recording of this name, what its client did not wait for ended.
  init(fixture name: String) throws {
    self.init(name, try Fixtures.recording(name).endingWhatIsUnfinished)
  }

  /// The places to stop at on each connection (docs/INTERFACES.md, `--cut every`), its beginning and end among them.
  func places(connection: Int) -> [Int] {
    let stream = ServerStream(recording, connection: connection)
    return [0] + stream.cuts.filter { $0 > 0 && $0 < stream.bytes.count } + [stream.bytes.count]
  }

  /// The places to stop at among all it receives, connection after connection.
  var places: [Int] {
    var (places, before): (Set<Int>, Int) = ([], 0)
    for connection in recording.connections {
      let own = self.places(connection: connection.number)
      places.formUnion(own.map { before + $0 })
      before += own.last ?? 0
    }
    return places.sorted()
  }
}
