import BenchmarkSupport
import Foundation
import Gannet
import GannetFoundation

// The main thread's `RunLoop`: a program of its own, as only it needs Foundation.

let usage = """
  usage: gannet-runloop-bench MODE URL N CONC
  MODE: once seq
  docs/BENCHMARKS.md says what each does and prints. RIG_CA names the file of certificates to trust.
  """
var plan = Plan(usage: usage)
switch plan.mode {
case "once": plan.count = 1
case "seq": plan.warmUp = 200
default: quit(usage, status: 64)
}

var isDone = false
let configuration = plan.configuration
let loads = Loads(plan) { request, loads in
  guard
    let connection = URLConnection(
      request: request, delegate: loads, startImmediately: false, configuration: configuration)
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
