import FetchTool
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Every recording by `events(for:)`, left or cancelled at every event, and by `data(for:)`, cancelled at a sample of its bytes:
/// nothing comes after it, and everything is let go.
@Suite(.timeLimit(.minutes(1)), .serialized) struct CancelAsyncTests {
  /// How a sequence of events is left.
  enum Way: CaseIterable { case byItsIterator, byItsTask }

  private static func configuration(
    _ load: RecordedLoad, _ census: Census, at place: ReceivedByte? = nil,
    _ action: @escaping @Sendable () -> Void = {}
  ) -> URLConnection.Configuration {
    var configuration = URLConnection.Configuration()
    configuration.transportProvider = TappedProvider(
      ReplayProvider(load.recording, cuts: .asRecorded), census, at: place, action)
    configuration.trafficObserver = DriverToken(census)
    configuration.credentialStorage = URLCredentialStorage()
    configuration.urlCache = URLCache(memoryCapacity: 1 << 20)
    configuration.idleConnectionLifetime = .milliseconds(1)
    configuration.collectsMetrics = true
    return configuration
  }

  /// Takes so many events, then leaves as told; gives how many there were, and what was wrong.
  private static func take(
    _ count: Int, of load: RecordedLoad, _ way: Way, _ census: Census
  ) async -> (taken: Int, faults: [String]) {
    let events = URLConnection.events(for: load.request, configuration: configuration(load, census))
    return await Task {
      var iterator = events.makeAsyncIterator()
      var (taken, faults): (Int, [String]) = (0, [])
      do {
        while taken < count, try await iterator.next() != nil { taken += 1 }
        guard way == .byItsTask, taken == count else { return (taken, faults) }
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        if try await iterator.next() != nil { faults.append("an event comes after the cancel") }
      } catch {
        // The cancel, or how the load had ended by then.
      }
      let after = try? await iterator.next()
      if after != nil { faults.append("an event comes after the end") }
      return (taken, faults)
    }.value
  }

  @Test(arguments: Way.allCases, Fixtures.names)
  func atEveryEvent(_ way: Way, _ name: String) async throws {
    let load = try RecordedLoad(fixture: name)
    var (count, isOver) = (0, false)
    while !isOver {
      let census = Census()
      let (taken, faults) = await Self.take(count, of: load, way, census)
      _ = try await census.absence(of: Census.Kind.allCases).value
      #expect(faults == [], "after \(count)")
      isOver = taken < count
      count += 1
    }
  }

  @Test(arguments: Fixtures.names)
  func dataAtSomeBytes(_ name: String) async throws {
    let load = try RecordedLoad(fixture: name)
    var random = SeededGenerator(seed: 6)
    let places = load.places
    for _ in 0..<12 {
      let byte = ReceivedByte(
        places.randomElement(using: &random) ?? 0, isProcessed: .random(using: &random))
      let (census, task) = (Census(), Arrival<Task<Void, Never>>())
      let configuration = Self.configuration(load, census, at: byte) { task.current?.cancel() }
      let begin = Arrival<Bool>()
      let loading = Task {
        _ = try? await begin.value
        let result = await Self.result(load.request, configuration)
        if case .failure(let error) = result, Task.isCancelled {
          #expect(error.code == .cancelled, "\(byte)")
        }
      }
      task.arrive(loading)
      begin.arrive(true)
      await loading.value
      _ = try await census.absence(of: [.transport]).value
    }
  }

  private static func result(
    _ request: URLRequest, _ configuration: URLConnection.Configuration
  ) async -> Result<Void, ConnectionError> {
    do throws(ConnectionError) {
      _ = try await URLConnection.data(for: request, configuration: configuration)
      return .success(())
    } catch {
      return .failure(error)
    }
  }
}
