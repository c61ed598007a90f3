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
  traits: [
    .trait(
      name: "IDN", description: "Host names beyond ASCII, such as bücher.example, with libidn2's tables.")
  ],
  targets: [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CScan"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    layer("GannetHTTP", ["CScan"]),
    layer("GannetIDN", ["GannetHTTP", .target(name: "CIDN2", condition: .when(traits: ["IDN"]))]),
    layer("GannetMultipart", ["GannetHTTP", "CScan"]),
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
        .target(name: "GannetIDN", condition: .when(traits: ["IDN"])),
      ]),
    layer("GannetFoundation", ["Gannet", "GannetHTTP", "GannetSockets"]),
    .executableTarget(
      name: "FetchTool",
      dependencies: [
        "Gannet", "GannetHTTP", "GannetMultipart", "GannetCoding", "GannetExchange", "GannetSockets",
        "GannetTLS",
      ],
      swiftSettings: settings),

    .executableTarget(
      name: "gannet-bench", dependencies: ["BenchmarkSupport", "Gannet"], path: "Tests/Benchmarks",
      exclude: [
        "Parse", "RunLoop", "Splitter", "Support", "Tools", "parse.sh", "run.sh", "splitter.sh", "tables.awk",
      ],
      swiftSettings: settings),
    // Apart, as it alone needs Foundation, and whoever loads that starts later.
    .executableTarget(
      name: "gannet-runloop-bench", dependencies: ["BenchmarkSupport", "Gannet", "GannetFoundation"],
      path: "Tests/Benchmarks/RunLoop", swiftSettings: settings),
    .target(
      name: "BenchmarkSupport", dependencies: ["Gannet"], path: "Tests/Benchmarks/Support",
      swiftSettings: settings),
    .executableTarget(
      name: "splitter-bench", dependencies: ["GannetHTTP", "GannetMultipart"],
      path: "Tests/Benchmarks/Splitter", swiftSettings: settings),
    .executableTarget(
      name: "gannet-parse-bench", dependencies: ["GannetHTTP"], path: "Tests/Benchmarks/Parse",
      swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: ["Gannet", "GannetHTTP", "GannetSockets", "GannetTLS"],
      path: "Tests/TestSupport", swiftSettings: settings),
    // The two encoders of host names are laid against the URL suites there.
    tests(
      of: "GannetHTTP",
      ["CScan", "GannetFoundation", .target(name: "GannetIDN", condition: .when(traits: ["IDN"]))]),
    tests(of: "GannetMultipart", ["GannetHTTP", "CScan"]),
    tests(of: "GannetCoding", ["GannetHTTP", "CZlib"]),
    tests(of: "GannetExchange", ["GannetHTTP"]),
    // What hashes there is OpenSSL.
    tests(of: "GannetPolicy", ["GannetHTTP", "GannetTLS"]),
    tests(of: "GannetSockets"),
    tests(of: "GannetTLS", ["COpenSSL"]),
    tests(of: "Gannet", ["GannetHTTP", "GannetSockets", "GannetTLS", "GannetPolicy", "FetchTool"]),
    tests(of: "GannetFoundation", ["Gannet", "GannetHTTP", "GannetSockets", "FetchTool"]),
    tests(of: "FetchTool", ["Gannet", "GannetExchange", "GannetHTTP", "GannetSockets"]),
  ]
)
