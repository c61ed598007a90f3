// Tasks that run on an event loop's thread: awaiting a load there needs no hop to another thread.
import Gannet

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: TaskExecutor URL")
}
let loop = EventLoop.current
let handle = loop.handle
Task(executorPreference: handle) {
  do {
    let (data, response) = try await URLConnection.data(for: URLRequest(url: url))
    print(response.statusCode, data.count)
  } catch {
    print(error)
  }
  handle.post { $0.stop() }
}
loop.runForever()  // until stopped
