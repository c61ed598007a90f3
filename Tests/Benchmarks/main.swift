import BenchmarkSupport
import Gannet

let usage = """
  usage: gannet-bench MODE URL N CONC
  MODE: once seq conc new down file mjpeg idle, seqqueue seqasync downasync
  docs/BENCHMARKS.md says what each does and prints. OUT names the file of `file`, RIG_CA the certificates to trust.
  """
var plan = Plan(usage: usage)
let width = plan.configuration.maximumConnectionsPerHost

switch plan.mode {
case "once":
  plan.count = 1
  runOnOwnLoop(plan)
case "seq":
  plan.warmUp = 200
  runOnOwnLoop(plan)
case "down":
  runOnOwnLoop(plan)
case "new":
  plan.request.setValue("close", forHTTPHeaderField: "Connection")
  runOnOwnLoop(plan)
case "conc":
  plan.width = width
  runOnOwnLoop(plan)
case "file":
  guard let file = environment("OUT") else { quit("OUT must name a file", status: 64) }
  plan.file = file
  runOnOwnLoop(plan)
case "mjpeg": runStream(plan)
case "idle": runIdle(plan, streams: width)
case "seqqueue":
  plan.warmUp = 200
  runOnQueue(plan)
case "seqasync":
  plan.warmUp = 200
  await runAsync(plan)
case "downasync": await runAsyncEvents(plan)
default: quit(usage, status: 64)
}
