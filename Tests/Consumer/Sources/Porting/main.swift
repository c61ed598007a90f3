// The listings of docs/PORTING.md, one after the other, against the server whose URL is given. They begin on this thread
// and go on in its run loop, as in Cocoa; each is run until it says how it ended.
import Foundation
import Gannet
import GannetFoundation

let server = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ""

/// Runs the run loop until the load's delegate has been let go: after its last callback.
func run(_ make: () -> Receiving, _ path: String) -> Data {
  weak var delegate: Receiving?
  var received = Data()
  do {
    let made = make()
    delegate = made
    guard made.load(server + path) != nil else {
      print("usage: Porting URL")
      exit(2)
    }
  }
  let end = Date(timeIntervalSinceNow: 20)
  while let there = delegate, Date() < end {
    received = there.receivedData
    withExtendedLifetime(there) {}
    RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
  }
  return received
}

_ = run({ Receiving() }, "/small")
_ = run({ DenyingRedirects() }, "/away")
_ = run({ LoggingIn(name: "guest", password: "secret") }, "/login")
_ = run({ LoggingIn(name: "guest", password: "wrong") }, "/login")
_ = run({ DatingWhatIsCached() }, "/kept")
do {
  weak var tagged: Tagged?
  do {
    let made = Tagged()
    tagged = made
    for (tag, path) in [("tag1", "/small"), ("tag2", "/bytes?n=2000"), ("tag3", "/bytes?n=300000")] {
      if let url = URL(string: server + path) { made.startAsyncLoad(url, tag: tag) }
    }
  }
  let end = Date(timeIntervalSinceNow: 20)
  while tagged != nil, Date() < end {
    RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
  }
}
if let request = URL(string: server + "/kept").map({ URLRequest(url: $0) }),
  let kept = URLCache.shared.cachedResponse(for: request)
{
  print("Cached \(kept.data.count) bytes with \(kept.userInfo?.keys.joined() ?? "nothing")")
}
