import FoundationEssentials

/// One request as it is to be sent.
struct OutgoingRequest {
  var method: String
  /// The head, ready to be sent, with a body behind it that is sent in the same breath.
  var head: [UInt8]
  /// How many bytes of `head` are that body.
  var joinedBytes = 0
  /// A body that is sent after the head.
  var body: OutgoingBody?
  /// Whether the body waits until the server says 100.
  var awaitsContinue = false
  /// Whether the request asks for another protocol.
  var mayUpgrade = false
  /// Whether no other request is to follow on the connection.
  var closes = false

  /// A body up to this many bytes travels with the head: one system call sends both.
  static let smallBodyBytes = 16 * 1024
}

/// What of a request has still to be handed to the system: the head, with a small body behind it, then the rest.
struct Outbox {
  private var head: [UInt8] = []
  private var sent = 0
  /// Bytes of the head alone.
  let headCount: Int
  /// The body that comes after the head.
  private(set) var body: OutgoingBody?
  private(set) var sentAnything = false

  init() { headCount = 0 }

  init(_ request: consuming OutgoingRequest) {
    headCount = request.head.count - request.joinedBytes
    body = request.body
    head = request.head
  }

  /// Whether the head has been handed over.
  var isHeadSent: Bool { sent == head.count }

  /// Offers the head; `send` says how many of its bytes it took. Returns how many of those were body.
  mutating func offerHead<Failure: Error>(_ send: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) -> Int
  {
    let taken = try send(head.span.extracting(sent..<head.count))
    sentAnything = sentAnything || taken > 0
    let bodyBefore = max(0, sent - headCount)
    sent += taken
    let bodyAfter = max(0, sent - headCount)
    if sent == head.count { releaseHead() }
    return bodyAfter - bodyBefore
  }

  /// Gives up what has not been sent.
  mutating func abandon() {
    releaseHead()
    body?.cancel()
    body = nil
  }

  private mutating func releaseHead() {
    head = []
    sent = 0
  }
}
