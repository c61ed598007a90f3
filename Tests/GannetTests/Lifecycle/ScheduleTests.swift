import FoundationEssentials
import Gannet
import TestSupport
import Testing

/// Ten thousand random schedules, each from its own seed. One that fails says how it is had again:
/// `GANNET_SCHEDULE=SEED swift test --filter ScheduleTests`.
@Suite(.longWork) struct ScheduleTests {
  private static let batches = 16
  private static let count: UInt64 = 10_000
  /// The one schedule to run, when the environment names it.
  private static let only = ProcessInfo.processInfo.environment["GANNET_SCHEDULE"].flatMap { UInt64($0) }

  private static func check(_ seed: UInt64) throws -> LoadWatch.Report {
    let outcome = try Schedule.run(seed: seed)
    if !outcome.faults.isEmpty || only != nil {
      print("GANNET_SCHEDULE=\(seed):\n  " + outcome.report.trace.joined(separator: "\n  "))
    }
    #expect(outcome.faults == [], "GANNET_SCHEDULE=\(seed) swift test --filter ScheduleTests")
    return outcome.report
  }

  @Test(.enabled(if: only == nil), arguments: 0..<batches)
  func everyOneKeepsThePromises(_ batch: Int) throws {
    var (calls, codes): (Set<LoadWatch.Call>, Set<ConnectionError.Code>) = ([], [])
    var (cancelled, finished) = (0, 0)
    for seed in stride(from: UInt64(batch), to: Self.count, by: Self.batches) {
      let report = try Self.check(seed)
      calls.formUnion(report.calls)
      if let error = report.error { codes.insert(error.code) }
      if report.wasCancelled { cancelled += 1 }
      if report.calls.last == .finish { finished += 1 }
    }
    // They go everywhere, or they would say little.
    #expect(Set(LoadWatch.Call.allCases).subtracting(calls) == [])
    #expect(
      codes.isSuperset(of: [
        .timedOut, .networkConnectionLost, .badServerResponse, .userCancelledAuthentication,
        .redirectToNonExistentLocation, .requestBodyStreamExhausted,
      ]), "\(codes)")
    #expect(cancelled > 50 && finished > 50)
  }

  @Test(.enabled(if: only != nil)) func theOneThatIsNamed() throws {
    if let seed = Self.only { _ = try Self.check(seed) }
  }
}
