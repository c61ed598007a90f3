import Foundation
import Gannet
import GannetFoundation

/// The main thread's `RunLoop`.
func runOnRunLoop(_ plan: Plan) {
  var isDone = false
  let loads = Loads(plan) { request, loads in
    guard
      let connection = URLConnection(
        request: request, delegate: loads, startImmediately: false, configuration: plan.configuration)
    else { quit("cannot load \(request)") }
    do {
      try connection.schedule(in: .current, forMode: .default)
    } catch {
      quit("\(error)")
    }
    connection.start()
  } ended: {
    print($0.line())
    isDone = true
  }
  loads.start()
  while !isDone, RunLoop.current.run(mode: .default, before: .distantFuture) {}
}
