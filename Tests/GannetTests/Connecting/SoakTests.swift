import Dispatch
import Foundation
import Gannet
import GannetSockets
import GannetTLS
import Synchronization
import TestSupport
import Testing

/// A thousand loads in a row and a thousand cancelled at random moments leave nothing behind. Each runs in a process of
/// its own, so that its descriptors and memory are its own too.
@Suite(.serialized, .longWork) struct SoakTests {
  @Test func aThousandLoads() async {
    await #expect(processExitsWith: .success) { try Soak.sequential(isSecure: false) }
  }

  @Test func aThousandSecureLoads() async {
    await #expect(processExitsWith: .success) { try Soak.sequential(isSecure: true) }
  }

  @Test func aThousandLoadsOnNewConnections() async {
    await #expect(processExitsWith: .success) { try Soak.sequential(isSecure: false, closes: true) }
  }

  @Test func aThousandCancelledOnTheLoop() async {
    await #expect(processExitsWith: .success) { try Soak.cancelled(isSecure: false, by: .loop) }
  }

  /// Torn down while its sockets are live, in a closed port's refusal, a silence or half a body.
  @Test func twoThousandCancelledByAThread() async {
    await #expect(processExitsWith: .success) {
      try Soak.cancelled(2000, isSecure: false, by: .thread, within: 5000)
    }
  }

  @Test func aThousandCancelledByEightThreadsAtOnce() async {
    await #expect(processExitsWith: .success) { try Soak.cancelled(isSecure: false, by: .threads) }
  }

  @Test func aThousandSecureCancelledOnTheLoop() async {
    await #expect(processExitsWith: .success) { try Soak.cancelled(isSecure: true, by: .loop) }
  }

  @Test func aThousandSecureCancelledByEightThreadsAtOnce() async {
    await #expect(processExitsWith: .success) { try Soak.cancelled(isSecure: true, by: .threads) }
  }

  @Test func callsInAnyOrderFromManyThreads() async {
    await #expect(processExitsWith: .success) { try Soak.misused() }
  }
}

enum Soak {
  enum Canceller { case loop, thread, threads }

  static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  /// What is allocated, as a sanitizer counts it: there what is freed stays resident. Elsewhere what is resident.
  static func memory() throws -> Int {
    // SAFETY: the function takes nothing and gives a size_t (sanitizer/allocator_interface.h).
    if let symbol = unsafe dlsym(nil, "__sanitizer_get_current_allocated_bytes") {
      return Int(unsafe unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)())
    }
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
    return (Int(pages) ?? 0) * 4096
  }

  private static func identity() throws -> CertificateIdentity {
    try CertificateAuthority.selfSigned(CertificateTemplate(hosts: ["127.0.0.1"]))
  }

  private static func load(_ url: String, on loop: EventLoop) throws {
    var configuration = URLConnection.Configuration()
    configuration.trust = .unverified
    let log = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: url), delegate: log, configuration: configuration, on: .loop(loop.handle))
    loop.run(until: .now + .seconds(20))
    try #require(log.finished() == ["response 200 length 5", "data hello", "finish"])
  }

  /// A thousand loads one after the other, on one connection or on a new one each.
  static func sequential(isSecure: Bool, closes: Bool = false) throws {
    let server = try LoopbackServer(
      .answers([.ok("hello", closes ? "Connection: close\r\n" : "")]), identity: isSecure ? identity() : nil)
    defer { server.stop() }
    let url = server.url(isSecure ? "https" : "http")
    let loop = try EventLoop()
    for _ in 0..<100 { try load(url, on: loop) }
    let (descriptors, memory) = (try Soak.descriptors(), try Soak.memory())
    for _ in 0..<1000 { try load(url, on: loop) }
    // The server's end of the connection closed last may still be open.
    #expect(abs(try Soak.descriptors() - descriptors) <= 2)
    #expect(try Soak.memory() - memory < 4 << 20)
    loop.shutDown()
  }

  private static let half = Answer("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf")

  /// A load to be cancelled, whose delegate counts what it is told.
  private final class Probe: URLConnectionDataDelegate {
    private let ended: (Bool) -> Void
    var isCancelledOnTheLoop = false
    private var terminals = 0

    init(_ ended: @escaping (Bool) -> Void) { self.ended = ended }

    private func isTold() { if isCancelledOnTheLoop { ended(false) } }
    func connection(_ connection: URLConnection, didReceive response: URLResponse) { isTold() }
    func connection(_ connection: URLConnection, didReceive data: Data) { isTold() }
    func connectionDidFinishLoading(_ connection: URLConnection) { terminate() }
    func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) { terminate() }
    private func terminate() {
      isTold()
      terminals += 1
      if terminals > 1 { ended(false) }
    }
  }

  /// Many loads, of servers that refuse, are silent, stall, and answer, each cancelled within so many microseconds and
  /// let go at once.
  static func cancelled(
    _ count: Int = 1000, isSecure: Bool, by canceller: Canceller, within microseconds: Int = 3000
  ) throws {
    let certificate = isSecure ? try identity() : nil
    let servers = try [
      LoopbackServer(.silent), LoopbackServer(.answers([half]), identity: certificate),
      LoopbackServer(.answers([.ok("hello")]), identity: certificate),
      LoopbackServer(.answers([.ok("hello", ending: .endOfFile)]), identity: certificate),
    ]
    let refusing = try LoopbackServer(.silent)
    refusing.stop()
    let urls = (servers + [refusing]).map { $0.url(isSecure ? "https" : "http") }
    try cancel(100, urls, by: canceller, within: microseconds, seed: 1)
    let (descriptors, memory) = (try Soak.descriptors(), try Soak.memory())
    try cancel(count, urls, by: canceller, within: microseconds, seed: 2)
    for server in servers { server.stop() }
    #expect(try Soak.descriptors() <= descriptors)
    #expect(try Soak.memory() - memory < 8 << 20)
  }

  private static func cancel(
    _ count: Int, _ urls: [String], by canceller: Canceller, within microseconds: Int, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let loop = try EventLoop()
    var mistakes = 0
    var timers: [LoopTimer] = []
    let group = DispatchGroup()
    for index in 0..<count {
      let connection: URLConnection
      weak let probe: Probe?
      do {
        var configuration = URLConnection.Configuration()
        configuration.trust = .unverified
        configuration.maximumConnectionsPerHost = 4
        let delegate = Probe { _ in mistakes += 1 }
        probe = delegate
        let request = URLRequest(string: urls[index % urls.count], timeoutInterval: 0.05)
        connection = try #require(
          URLConnection(
            request: request, delegate: delegate, configuration: configuration, on: .loop(loop.handle)))
      }
      let wait = Int.random(in: 0...microseconds, using: &random)
      switch canceller {
      case .loop:
        let timer = loop.makeTimer { [weak connection, weak probe] _ in
          connection?.cancel()
          probe?.isCancelledOnTheLoop = true
        }
        timer.schedule(at: .now + .microseconds(wait))
        timers.append(timer)
      case .thread:
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(wait)) { connection.cancel() }
      case .threads:
        for _ in 0..<8 {
          group.enter()
          DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(wait)) {
            connection.cancel()
            group.leave()
          }
        }
      }
      if index % 8 == 7 {
        loop.run(until: .now + .milliseconds(2))
        timers.removeAll { $0.deadline == nil }
      }
    }
    group.wait()
    loop.run(until: .now + .seconds(10))
    #expect(mistakes == 0)
    loop.shutDown()
  }

  /// Start, pause, resume and cancel in any order, by eight threads on the same connections.
  static func misused() throws {
    let server = try LoopbackServer(.answers([.ok(String(repeating: "x", count: 200_000))]))
    defer { server.stop() }
    let loop = try EventLoop()
    let url = server.url()
    for round in 0..<60 {
      let log = CallbackLog()
      let connections = try (0..<4).map { _ in
        try #require(
          URLConnection(
            request: URLRequest(string: url), delegate: log, startImmediately: false, on: .loop(loop.handle)))
      }
      let group = DispatchGroup()
      for thread in 0..<8 {
        DispatchQueue.global().async(group: group) {
          var random = SeededGenerator(seed: UInt64(round * 8 + thread))
          for _ in 0..<20 {
            let connection = connections[Int.random(in: 0..<4, using: &random)]
            switch Int.random(in: 0..<40, using: &random) {
            case 0: connection.cancel()
            case 1..<10: connection.pause()
            case 10..<20: connection.resume()
            default: connection.start()
            }
          }
        }
      }
      loop.run(until: .now + .milliseconds(3))
      group.wait()
      for connection in connections {
        connection.resume()
        if round % 2 == 0 { connection.cancel() }
      }
      loop.run(until: .now + .seconds(10))
      let terminals = log.finished().count { $0 == "finish" || $0.hasPrefix("fail") }
      #expect(terminals <= 4)
      if round % 2 == 1 { #expect(log.finished().allSatisfy { !$0.hasPrefix("fail") }) }
    }
    loop.shutDown()
  }
}
