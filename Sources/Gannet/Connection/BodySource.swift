import FoundationEssentials

/// A body on its way to the task that takes it: its response, then its bytes.
typealias BodyQueue = LoadQueue<BodyBacklog>

/// What a load of bytes gives: the response once, and then what comes of its body.
enum BodyPiece: Sendable {
  case response(HTTPURLResponse)
  case data(Data)
}

/// Pieces of a body that wait, in order.
struct BodyBacklog: Backlog {
  /// Data that waits is joined up to this, so that a body in tiny pieces costs little more than one in large ones.
  private static let joinedBytes = 64 * 1024

  private var response: HTTPURLResponse?
  private var pieces: [Data] = []
  private var next = 0
  private(set) var bytes = 0

  var isEmpty: Bool { response == nil && next == pieces.count }

  mutating func append(_ piece: BodyPiece) {
    switch piece {
    case .response(let response): self.response = response
    case .data(let data):
      bytes += data.count
      if next < pieces.count, pieces[pieces.count - 1].count + data.count <= BodyBacklog.joinedBytes {
        pieces[pieces.count - 1].append(data)
      } else {
        pieces.append(data)
      }
    }
  }

  mutating func popFirst() -> BodyPiece? {
    if let response {
      self.response = nil
      return .response(response)
    }
    guard next < pieces.count else { return nil }
    let data = pieces[next]
    next += 1
    bytes -= data.count
    // What was taken goes too, when it is half of all.
    if next * 2 >= pieces.count {
      pieces.removeFirst(next)
      next = 0
    }
    return .data(data)
  }

  mutating func removeAll() { self = BodyBacklog() }
}

/// Puts a load's response and data into a queue.
private final class BodyForwarder: URLConnectionDataDelegate {
  private let queue: BodyQueue
  init(_ queue: BodyQueue) { self.queue = queue }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    queue.append(.response(.standing(for: response)))
  }
  func connection(_ connection: URLConnection, didReceive data: Data) { queue.append(.data(data)) }
  func connectionDidFinishLoading(_ connection: URLConnection) { queue.end(.success(nil)) }
  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    queue.end(.failure(error))
  }
}

/// The body of one load, whose response is there. Cancels the load when it is let go.
final class BodySource: Sendable {
  private let request: URLRequest
  private let queue: BodyQueue

  init(_ request: URLRequest, _ configuration: URLConnection.Configuration) {
    var configuration = configuration
    configuration.keepsPartsTogether = true
    self.request = request
    queue = BodyQueue(request, configuration, BodyBacklog()) { BodyForwarder($0) }
  }

  deinit { queue.cancel() }

  /// Begins the load, and waits for its response.
  func response() async throws(ConnectionError) -> HTTPURLResponse {
    guard case .response(let response) = try await queue.next() else {
      throw ConnectionError(
        .badServerResponse, phase: .receiving, url: request.safeURLString,
        reason: "the load ended without a response")
    }
    return response
  }

  /// What comes next of the body for one iterator, not empty; nil at its end, and once that has been told.
  func data(until isOver: inout Bool) async throws(ConnectionError) -> Data? {
    while let piece = try await queue.next(until: &isOver) {
      if case .data(let data) = piece { return data }
    }
    return nil
  }

  /// Ends the load.
  func cancel() { queue.cancel() }

  /// The request's URL, for errors.
  var safeURLString: String { request.safeURLString }
}
