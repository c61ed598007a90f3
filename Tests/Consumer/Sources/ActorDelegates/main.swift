// Delegates of actors: one whose executor is a loop's handle, one of the main actor, and one that takes the events in a
// task of its own.
import Gannet
import Glibc

actor Counter: URLConnectionDataDelegate {
  private let loop: EventLoop.Handle
  private var bytes = 0

  init(on loop: EventLoop.Handle) { self.loop = loop }

  // The actor runs where its loads call back, so a callback is in it already.
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  nonisolated func connection(_ connection: URLConnection, didReceive data: Data) {
    assumeIsolated { $0.bytes += data.count }
  }

  nonisolated func connectionDidFinishLoading(_ connection: URLConnection) {
    assumeIsolated { print("actor", $0.bytes) }
  }

  nonisolated func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print(error)
  }
}

@MainActor final class Page: @MainActor URLConnectionDataDelegate {
  private var bytes = 0

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) { print("main actor", bytes) }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) { print(error) }
}

actor Reader {
  private var bytes = 0

  func read(_ request: URLRequest) async throws(ConnectionError) -> Int {
    for try await event in URLConnection.events(for: request) {
      if case .data(let data) = event { bytes += data.count }
    }
    return bytes
  }
}

let request = URLRequest(string: CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "")
guard URLConnection.canHandle(request) else {
  print("usage: ActorDelegates URL")
  exit(2)
}
let loop = EventLoop.current
let handle = loop.handle
_ = URLConnection(request: request, delegate: Counter(on: handle), on: .loop(handle))
loop.run()
_ = URLConnection(request: request, delegate: Page())
loop.run()
Task.detached {
  do throws(ConnectionError) {
    print("task of an actor", try await Reader().read(request))
  } catch {
    print(error)
  }
  handle.post { $0.stop() }
}
loop.runForever()
