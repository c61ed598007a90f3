import BenchmarkSupport
import FoundationEssentials
import Gannet

/// Whole bodies, awaited one after the other.
func runAsync(_ plan: Plan) async {
  var measurement = Measurement(mode: plan.mode, count: plan.count)
  do {
    for index in 0..<(plan.warmUp + plan.count) {
      if index == plan.warmUp { measurement.restart() }
      let (data, _) = try await URLConnection.data(for: plan.request, configuration: plan.configuration)
      measurement.bytes += data.count
    }
  } catch {
    quit("\(error)")
  }
  measurement.stop()
  print(measurement.line())
}

/// Bodies as a sequence of events, so that none is held whole.
func runAsyncEvents(_ plan: Plan) async {
  var measurement = Measurement(mode: plan.mode, count: plan.count)
  do {
    for _ in 0..<plan.count {
      for try await event in URLConnection.events(for: plan.request, configuration: plan.configuration) {
        if case .data(let data) = event { measurement.bytes += data.count }
      }
    }
  } catch {
    quit("\(error)")
  }
  measurement.stop()
  print(measurement.line())
}
