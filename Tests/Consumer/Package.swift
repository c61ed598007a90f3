// swift-tools-version: 6.2
// A package that depends on Gannet as a user's does: its programs are the examples of the documents, and one for each
// host that can drive a load. run.sh builds and runs them.
import PackageDescription

/// Nothing that a user writes in Swift 6 may warn, but what is copied from documents of Cocoa.
func program(_ name: String, _ products: [String] = ["Gannet"], mayWarn: Bool = false) -> Target {
  .executableTarget(
    name: name, dependencies: products.map { .product(name: $0, package: "gannet") },
    swiftSettings: [.swiftLanguageMode(.v6)] + (mayWarn ? [] : [.treatAllWarnings(as: .error)]))
}

let package = Package(
  name: "consumer",
  dependencies: [.package(name: "gannet", path: "../..")],
  targets: [
    program("Smallest"),
    program("Camera"),
    program("Pictures"),
    program("Answers"),
    program("Upload"),
    program("OwnLoop"),
    program("RunLoopThread", ["Gannet", "GannetFoundation"]),
    program("MainRunLoop", ["Gannet", "GannetFoundation"]),
    program("MainQueue"),
    program("Queue"),
    program("TaskExecutor"),
    program("PlainAwait"),
    program("Porting", ["Gannet", "GannetFoundation"], mayWarn: true),
    program("ActorDelegates"),
    program("OperationQueues", ["Gannet", "GannetFoundation"]),
    program("StandIn"),
  ]
)
