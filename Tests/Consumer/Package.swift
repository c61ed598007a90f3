// swift-tools-version: 6.2
// A package that depends on Gannet as a user's does: its programs are the examples of the documents, and one for each
// host that can drive a load. run.sh builds and runs them.
import PackageDescription

func program(_ name: String, _ products: [String] = ["Gannet"]) -> Target {
  .executableTarget(name: name, dependencies: products.map { .product(name: $0, package: "gannet") })
}

let package = Package(
  name: "consumer",
  dependencies: [.package(name: "gannet", path: "../..")],
  targets: [
    program("Smallest"),
    program("Camera"),
    program("Answers"),
    program("OwnLoop"),
    program("RunLoopThread", ["Gannet", "GannetFoundation"]),
    program("MainRunLoop", ["Gannet", "GannetFoundation"]),
    program("MainQueue"),
    program("Queue"),
    program("TaskExecutor"),
    program("PlainAwait"),
  ]
)
