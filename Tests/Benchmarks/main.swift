import FoundationEssentials
import Gannet

let usage = """
  usage: gannet-bench MODE URL N CONC
  MODE: once seq conc new down file mjpeg idle, seqrunloop seqqueue, seqasync downasync
  docs/BENCHMARKS.md says what each does and prints. OUT names the file of `file`, RIG_CA the certificates to trust.
  """
guard CommandLine.arguments.count == 5, let url = URL(string: CommandLine.arguments[2]),
  let count = Int(CommandLine.arguments[3]), count > 0, let width = Int(CommandLine.arguments[4]), width > 0
else {
  quit(usage, status: 64)
}
let mode = CommandLine.arguments[1]
var plan = Plan(mode: mode, request: URLRequest(url: url), configuration: configuration(width), count: count)

switch mode {
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
case "seqrunloop":
  plan.warmUp = 200
  runOnRunLoop(plan)
case "seqqueue":
  plan.warmUp = 200
  runOnQueue(plan)
case "seqasync":
  plan.warmUp = 200
  await runAsync(plan)
case "downasync": await runAsyncEvents(plan)
default: quit(usage, status: 64)
}

/// Trusts what RIG_CA names, and lets as many connections be open as are wanted at a time.
func configuration(_ width: Int) -> URLConnection.Configuration {
  var configuration = URLConnection.Configuration.default
  configuration.maximumConnectionsPerHost = width
  if let file = environment("RIG_CA") { configuration.trust = .file(file) }
  return configuration
}
