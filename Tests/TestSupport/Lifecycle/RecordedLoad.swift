package import Gannet
package import GannetSockets

/// A recording, to be loaded again while it is watched.
package struct RecordedLoad: Sendable {
  /// Its name, from the folder on.
  package let name: String
  /// What is played. What the recorded client did not wait for has to be ended, where nobody lets time pass.
  package let recording: Recording
  /// What is loaded.
  package let request: URLRequest

  /// Prepares to load it.
  package init(_ name: String, _ recording: Recording) {
    self.name = name
    self.recording = recording
    var request = URLRequest(string: recording.load.url, timeoutInterval: 20)
    request.httpMethod = recording.load.method
    for field in recording.load.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
    if let body = recording.load.body { request.httpBody = Data(body) }
    self.request = request
  }

  /// The recorded answers.
  package var answers: WatchedDelegate.Answers {
    var answers = WatchedDelegate.Answers()
    for answer in recording.load.answers.compactMap({ Recording.Answer($0) }) {
      switch answer {
      case .credentials(let user, let password):
        answers.challenge = {
          let credential = URLCredential(user: user, password: password, persistence: .none)
          $0.sender?.use($0.previousFailureCount == 0 ? credential : nil, for: $0)
        }
      case .refuseRedirect: answers.request = { request, response, _ in response == nil ? request : nil }
      case .trust: break  // there is no TLS in a replay
      }
    }
    return answers
  }
}

/// Where a load is cancelled.
package enum CancelPlace: Hashable, Sendable {
  case nowhere
  /// Inside the callback of this number, from 1.
  case callback(Int)
  /// As `callback`, by another thread, for which the callback waits.
  case callbackElsewhere(Int)
  /// Where this byte has come.
  case byte(ReceivedByte)

  /// Every callback of a load that had so many, in both ways, and a few of the bytes that it received, before and after
  /// they are processed.
  package static func sampled(calls: Int, bytes: Int, seed: UInt64) -> [CancelPlace] {
    var random = SeededGenerator(seed: seed)
    let callbacks = calls < 1 ? [] : (1...calls).flatMap { [callback($0), callbackElsewhere($0)] }
    let numbers = (0..<6).map { _ in Int.random(in: 0...bytes, using: &random) }
    return callbacks
      + numbers.flatMap { number in
        [false, true].map { byte(ReceivedByte(number, isProcessed: $0)) }
      }
  }
}

/// One load in memory that is watched, from its making to its last trace.
package struct WatchedLoad: Sendable {
  /// Counts what it is made of.
  package let census: Census
  /// Sees to what its delegate is told.
  package let watch: LoadWatch
  /// What its connections go through.
  package let provider: TappedProvider
  private let held = HeldConnection()

  /// The connection, while its load lives.
  package var connection: URLConnection? { held.connection }

  /// Makes the load and starts it; nothing but the load itself then keeps its connection and its delegate.
  ///
  /// - Parameters:
  ///   - server: makes its transports.
  ///   - place: where it is cancelled.
  ///   - plan: what goes wrong with each connection.
  ///   - keepsIdle: whether a connection that could serve another load is kept for it, or only as long as a redirect takes.
  ///   - protocols: the classes that are asked before the network.
  ///   - schedule: settles its host, where that is not one to be given to the initializer.
  ///   - isOnHost: whether this is the host.
  package init(
    of request: URLRequest, from server: any TransportProvider, _ answers: WatchedDelegate.Answers,
    at place: CancelPlace = .nowhere, plan: FaultPlan? = nil, on host: URLConnection.Host = .shared,
    keepsIdle: Bool = true, protocols: [URLProtocol.Type] = [],
    schedule: (URLConnection) throws -> Void = { _ in },
    isOnHost: @escaping @Sendable () -> Bool
  ) throws {
    let (census, watch, held) = (Census(), LoadWatch(isOnHost: isOnHost), held)
    self.census = census
    self.watch = watch
    var byte: ReceivedByte?
    if case .byte(let place) = place { byte = place }
    provider = TappedProvider(server, census, watch, plan: plan, at: byte) {
      if let connection = held.connection { watch.cancel(connection) }
    }
    var configuration = URLConnection.Configuration()
    configuration.transportProvider = provider
    configuration.trafficObserver = DriverToken(census)
    configuration.credentialStorage = URLCredentialStorage()
    configuration.urlCache = URLCache(memoryCapacity: 1 << 20)
    configuration.cookieStorage = HTTPCookieStorage()
    configuration.collectsMetrics = true
    configuration.protocolClasses = protocols
    if !keepsIdle { configuration.idleConnectionLifetime = .milliseconds(1) }
    var answers = answers
    let onCall = answers.onCall
    answers.onCall = { number, call, connection in
      onCall(number, call, connection)
      WatchedLoad.cancel(connection, watch, at: place, number)
    }
    let connection = CountedConnection(
      request, WatchedDelegate(watch, census, answers), census, configuration, on: host)
    guard let connection else {
      throw ConnectionError(.badURL, phase: .preparing, url: "", reason: "no load")
    }
    held.connection = connection
    try schedule(connection)
    watch.perform("start") {
      connection.start()
      connection.start()
    }
  }

  /// Waits until nothing is left of it, and gives the promises that were not kept.
  package func end() async throws -> [String] {
    _ = try await census.absence(of: Census.Kind.allCases).value
    return faults()
  }

  /// Cancels a load in its callback of this number, where the place says so.
  package static func cancel(
    _ connection: URLConnection, _ watch: LoadWatch, at place: CancelPlace, _ number: Int
  ) {
    switch place {
    case .callback(number):
      watch.cancel(connection)
      watch.cancel(connection, "cancel again")
    case .callbackElsewhere(number):
      SecondThread.shared.run { connection.cancel() }
      watch.cancel(connection, "cancel after another thread's")
    case .nowhere, .callback, .callbackElsewhere, .byte: break
    }
  }

  /// The promises that were not kept, given that the load is over and its host has nothing left to do.
  package func faults() -> [String] {
    let report = watch.report
    var faults = report.faults
    if !report.allowedEnds.contains(report.ends) {
      faults.append("\(report.ends) terminals, not \(report.allowedEnds)")
    }
    let living = census.living([.connection, .delegate])
    if !living.isEmpty { faults.append("\(living) not let go") }
    return faults
  }
}

/// Leads to a connection without keeping it.
package final class HeldConnection: Sendable {
  private struct Weak: Sendable { weak var connection: URLConnection? }
  private let state = Guarded(Weak())

  /// Leads nowhere.
  package init() {}

  /// The connection, while it lives.
  package var connection: URLConnection? {
    get { state.withLock { $0.connection } }
    set { state.withLock { $0.connection = newValue } }
  }
}
