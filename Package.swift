// swift-tools-version: 6.2
import PackageDescription

// One set of rules for every Swift target. Warnings become errors in CI only, on the command line:
// in the manifest they would break dependents and every newer compiler.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A layer of the library, under `Sources`.
func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests of one layer, under `Tests`, mirroring its folders.
func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: name + "Tests", dependencies: [.target(name: name), "TestSupport"] + dependencies,
    swiftSettings: settings)
}

let package = Package(
  name: "gannet",
  products: [
    .library(name: "Gannet", targets: ["Gannet"]),
    .library(name: "GannetFoundation", targets: ["GannetFoundation"]),
    .library(name: "GannetHTTP", targets: ["GannetHTTP"]),
    .library(name: "GannetMultipart", targets: ["GannetMultipart"]),
    .library(name: "GannetExchange", targets: ["GannetExchange"]),
    .executable(name: "gannet", targets: ["FetchTool"]),
  ],
  targets: [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    layer("GannetHTTP"),
    layer("GannetMultipart", ["GannetHTTP"]),
    layer("GannetCoding", ["GannetHTTP", "CZlib"]),
    layer("GannetExchange", ["GannetHTTP"]),
    layer("GannetPolicy", ["GannetHTTP"]),
    layer("GannetSockets", ["CLinux"]),
    layer("GannetTLS", ["COpenSSL"]),
    layer(
      "Gannet",
      [
        "GannetHTTP", "GannetMultipart", "GannetCoding", "GannetExchange", "GannetPolicy",
        "GannetSockets", "GannetTLS",
      ]),
    layer("GannetFoundation", ["Gannet", "GannetSockets"]),
    .executableTarget(
      name: "FetchTool",
      dependencies: [
        "Gannet", "GannetHTTP", "GannetMultipart", "GannetCoding", "GannetExchange", "GannetSockets",
        "GannetTLS",
      ],
      swiftSettings: settings),

    .executableTarget(
      name: "gannet-bench", dependencies: ["Gannet", "GannetFoundation", "GannetSockets"],
      path: "Tests/Benchmarks", exclude: ["Tools", "run.sh", "tables.awk"],
      swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: ["Gannet", "GannetHTTP", "GannetSockets", "GannetTLS"],
      path: "Tests/TestSupport", swiftSettings: settings),
    tests(of: "GannetHTTP"),
    tests(of: "GannetMultipart", ["GannetHTTP"]),
    tests(of: "GannetCoding", ["GannetHTTP", "CZlib"]),
    tests(of: "GannetExchange", ["GannetHTTP"]),
    tests(of: "GannetPolicy", ["GannetHTTP"]),
    tests(of: "GannetSockets"),
    tests(of: "GannetTLS", ["COpenSSL"]),
    tests(of: "Gannet", ["GannetHTTP", "GannetSockets", "GannetTLS", "GannetPolicy"]),
    tests(of: "GannetFoundation", ["Gannet"]),
    tests(of: "FetchTool", ["Gannet", "GannetHTTP", "GannetSockets"]),
  ]
)
