import BenchmarkSupport
import Dispatch
import Gannet

/// The reference: a loop on this thread, and no other thread.
func runOnOwnLoop(_ plan: Plan) {
  let loop = EventLoop.current
  let loads = Loads(plan) { request, loads in
    begin(request, loads, plan, on: .loop(loop.handle))
  } ended: {
    print($0.line())
  }
  loads.start()
  loop.run()
}

/// A serial Dispatch queue.
func runOnQueue(_ plan: Plan) {
  let queue = DispatchQueue(label: "gannet-bench")
  let finished = DispatchSemaphore(value: 0)
  queue.async {
    let loads = Loads(plan) { request, loads in
      begin(request, loads, plan, on: .queue(queue))
    } ended: {
      print($0.line())
      finished.signal()
    }
    loads.start()
  }
  finished.wait()
}

private func begin(_ request: Gannet.URLRequest, _ loads: Loads, _ plan: Plan, on host: URLConnection.Host) {
  let connection = URLConnection(
    request: request, delegate: loads, configuration: plan.configuration, on: host)
  if connection == nil { quit("cannot load \(request)") }
}
