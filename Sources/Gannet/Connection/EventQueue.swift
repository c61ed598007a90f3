import FoundationEssentials
import GannetHTTP

/// Events on their way to the task that takes them.
typealias EventQueue = LoadQueue<EventBacklog>

/// Events that wait, in order, and what they take of the memory allowed.
struct EventBacklog: Backlog {
  private var events: [URLConnection.Event?] = []
  private var next = 0
  /// The cost of all that wait.
  private(set) var bytes = 0

  var isEmpty: Bool { next == events.count }

  mutating func append(_ event: URLConnection.Event) {
    // Progress that was not taken is out of date; sending does not stop for a slow consumer, so it must not add up.
    if case .sentBody = event, !isEmpty, case .sentBody = events.last {
      events[events.count - 1] = event
      return
    }
    events.append(event)
    bytes += EventBacklog.cost(of: event)
  }

  mutating func removeAll() { self = EventBacklog() }

  mutating func popFirst() -> URLConnection.Event? {
    guard !isEmpty, let event = events[next] else { return nil }
    events[next] = nil
    next += 1
    bytes -= EventBacklog.cost(of: event)
    // The slots of what was taken go too, when they are half of all.
    if next * 2 >= events.count {
      events.removeFirst(next)
      next = 0
    }
    return event
  }

  /// An event without data costs something too, so that an endless stream of empty parts is stopped as well.
  private static func cost(of event: URLConnection.Event) -> Int {
    switch event {
    case .data(let data): 64 + data.count
    case .response(let response), .informational(let response): 512 + response.fields.byteCount
    case .trailers(let fields): 256 + fields.byteCount
    case .metrics(let metrics): 64 + 512 * metrics.transactions.count
    case .partFinished, .sentBody: 64
    }
  }
}

/// Puts a load's callbacks into a queue.
final class EventDelegate: URLConnectionDataDelegate {
  private let queue: EventQueue
  init(_ queue: EventQueue) { self.queue = queue }

  func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {
    queue.append(.sentBody(total: totalBytesWritten, expected: totalBytesExpectedToWrite))
  }
  func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse) {
    queue.append(.informational(response))
  }
  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    queue.append(.response(.standing(for: response)))
  }
  func connection(_ connection: URLConnection, didReceive data: Data) { queue.append(.data(data)) }
  func connectionDidFinishPart(_ connection: URLConnection) { queue.append(.partFinished) }
  func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    queue.append(.trailers(trailers))
  }
  func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics) {
    queue.append(.metrics(metrics))
  }
  func connectionDidFinishLoading(_ connection: URLConnection) { queue.end(.success(nil)) }
  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    queue.end(.failure(error))
  }
}
