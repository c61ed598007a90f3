import FoundationEssentials

/// Complete parts on their way to the task that takes them.
typealias PartQueue = LoadQueue<PartBacklog>

/// Parts that wait, in order; or the newest.
struct PartBacklog: Backlog {
  typealias Element = URLConnection.Part

  private let keeping: URLConnection.Parts.Keeping
  private var parts: [Element] = []
  private var next = 0
  private var size = 0

  init(_ keeping: URLConnection.Parts.Keeping) { self.keeping = keeping }

  var isEmpty: Bool { next == parts.count }

  /// Where only the newest is kept, nothing adds up.
  var bytes: Int { keeping == .newest ? 0 : size }

  mutating func append(_ part: Element) {
    if keeping == .newest { removeAll() }
    parts.append(part)
    size += PartBacklog.cost(of: part)
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let part = parts[next]
    next += 1
    size -= PartBacklog.cost(of: part)
    // What was taken goes too, when it is half of all.
    if next * 2 >= parts.count {
      parts.removeFirst(next)
      next = 0
    }
    return part
  }

  mutating func removeAll() { self = PartBacklog(keeping) }

  private static func cost(of part: Element) -> Int { 512 + part.response.fields.byteCount + part.data.count }
}

/// A delegate that gathers one part after the other and puts each into a queue once it is complete.
final class PartGatherer: URLConnectionDataDelegate {
  private let queue: PartQueue
  private var outer: HTTPURLResponse?
  private var sawPart = false
  /// The part that is being gathered.
  private var response: HTTPURLResponse?
  private var data = Data()

  init(_ queue: PartQueue) { self.queue = queue }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return }
    guard response.partIndex != nil else { return outer = response }
    sawPart = true
    self.response = response
    data = Data()
    // What the server says is a hint; memory is taken as bytes come.
    data.reserveCapacity(Int(min(max(response.expectedContentLength, 0), 1 << 20)))
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    guard sawPart else { return failAsNoStream(connection) }
    guard response != nil else { return }
    let maximum = connection.configuration.maximumGatheredBytes
    guard data.count <= maximum - self.data.count else {
      connection.cancel()
      return queue.end(
        .failure(
          ConnectionError(
            .dataLengthExceedsMaximum, phase: .receiving, url: connection.currentRequest.safeURLString,
            cause: .limit("maximumGatheredBytes"), reason: "a part has more than \(maximum) bytes")))
    }
    self.data.append(data)
  }

  func connectionDidFinishPart(_ connection: URLConnection) {
    guard let response else { return }
    queue.append(URLConnection.Part(response: response, data: data))
    self.response = nil
    data = Data()
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    guard sawPart || outer?.mimeType?.hasPrefix("multipart/") == true else {
      return failAsNoStream(connection)
    }
    queue.end(.success(nil))
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    queue.end(.failure(error))
  }

  private func failAsNoStream(_ connection: URLConnection) {
    connection.cancel()
    let status = outer.map { " of status \($0.statusCode)" } ?? ""
    let type = outer?.mimeType.map { " and type \($0)" } ?? ""
    queue.end(
      .failure(
        ConnectionError(
          .badServerResponse, phase: .receiving, url: connection.currentRequest.safeURLString,
          reason: "the response\(status)\(type) is no stream of parts")))
  }
}
