import FoundationEssentials

/// What of a request has still to be handed to the system: the head, with a small body behind it, then the rest.
struct Outbox {
  /// The head and, when it is small, the body: one system call sends both.
  private var first: [UInt8] = []
  private var firstSent = 0
  private let headCount: Int
  private var body: Data?
  private var bodySent = 0

  /// A body up to this many bytes travels with the head.
  private static let smallBodyBytes = 16 * 1024
  /// How much is offered at once.
  private static let pieceBytes = 256 * 1024

  init() { headCount = 0 }

  init(head: consuming [UInt8], body: Data?) {
    headCount = head.count
    first = head
    if let body, body.count <= Outbox.smallBodyBytes {
      first.append(contentsOf: body)
    } else {
      self.body = body
    }
  }

  var isEmpty: Bool { firstSent == first.count && body == nil }
  private(set) var sentAnything = false

  /// Offers the next piece; `send` says how many of its bytes it took. Returns how many of those were body.
  mutating func offer<Failure: Error>(_ send: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) -> Int {
    if firstSent < first.count {
      let taken = try send(first.span.extracting(firstSent..<first.count))
      sentAnything = sentAnything || taken > 0
      let bodyBefore = max(0, firstSent - headCount)
      firstSent += taken
      let bodyAfter = max(0, firstSent - headCount)
      if firstSent == first.count { releaseFirst() }
      return bodyAfter - bodyBefore
    }
    guard let body else { return 0 }
    let start = body.startIndex + bodySent
    let end = min(body.endIndex, start + Outbox.pieceBytes)
    let taken = try send(body.span.extracting(start - body.startIndex..<end - body.startIndex))
    bodySent += taken
    if bodySent == body.count { self.body = nil }
    return taken
  }

  /// Gives up what has not been sent.
  mutating func abandon() {
    releaseFirst()
    body = nil
  }

  private mutating func releaseFirst() {
    first = []
    firstSent = 0
  }
}
