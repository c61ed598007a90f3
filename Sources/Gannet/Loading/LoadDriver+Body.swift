import FoundationEssentials
import GannetCoding
import GannetHTTP
import GannetMultipart

/// What the body of one response passes on its way to the delegate.
struct BodyState: ~Copyable {
  /// Whether a content coding is undone: the caller did not ask for codings itself.
  var decodes = false
  var decoder: ContentDecoder?
  var splitter: MixedReplaceSplitter?
  var parts = 0
  /// Whether the stream of parts has said that it is over: how the rest is coded no longer matters.
  var isOver = false
  /// Whether the decoder had more to give than was asked of it.
  var isDecoderFull = false
  /// Decoded bytes that could not be delivered yet.
  var decoded: [UInt8] = []
  var delivered = 0
  /// Whether it is a stream of parts without an end, be it split or not.
  private(set) var isEndless = false

  mutating func begin(_ response: HTTPURLResponse, of connection: URLConnection) {
    defer {
      isEndless = splitter != nil
      if connection.configuration.keepsPartsTogether { splitter = nil }
    }
    if connection.configuration.splitsUnlabelledStreams, !connection.configuration.keepsPartsTogether {
      splitter = MixedReplaceSplitter(boundary: nil, limits: connection.configuration.limits)
    }
    // Nearly every response is something else, and is not looked at further.
    guard let index = response.fields.firstIndex(named: "Content-Type"),
      response.fields.withValueBytes(at: index, { $0.count > 10 && $0[0] | 0x20 == UInt8(ascii: "m") })
    else { return }
    let contentType = response.fields[index].value
    if let stream = MixedReplaceSplitter(contentType: contentType, limits: connection.configuration.limits) {
      splitter = stream
    } else if connection.configuration.splitsMixedStreams, let type = MediaType(contentType),
      type.essence == "multipart/mixed"
    {
      splitter = MixedReplaceSplitter(boundary: type.boundary, limits: connection.configuration.limits)
    }
  }
}

extension LoadDriver {
  /// Decoded bytes made at once, so that a small body that decodes to a huge one needs no more memory than this.
  private static let decodedBytes = 64 * 1024

  /// A byte has moved: the inactivity clock starts anew.
  func touched() {
    let moment = client.loop.moments
    guard moment != lastMoment || !isWatched else { return }
    lastMoment = moment
    lastActivity = client.loop.time
    guard !isWatched, let inactivityLimit else { return }
    isWatched = true
    client.watchInactivity(until: lastActivity.advanced(by: inactivityLimit))
  }

  /// Passes body bytes on; returns how many were taken, fewer than all when the load was paused or has ended.
  func receivedBody(_ bytes: Span<UInt8>) throws(ConnectionError) -> Int {
    guard !isStopped else { return 0 }
    guard body.decoder != nil else { return try split(bytes) }
    var consumed = 0
    while !isStopped {
      consumed += try decode(bytes.extracting(consumed..<bytes.count))
      guard try deliverDecoded() else { break }
      if consumed == bytes.count, !body.isDecoderFull { break }
    }
    return consumed
  }

  private func decode(_ bytes: Span<UInt8>) throws(ConnectionError) -> Int {
    // Taken out: the decoder and its output lie in one value.
    var decoded: [UInt8] = []
    swap(&decoded, &body.decoded)
    let consumed: Int
    do throws(ContentCodingError) {
      consumed =
        try body.decoder?.decode(bytes, into: &decoded, atMost: LoadDriver.decodedBytes) ?? bytes.count
    } catch {
      swap(&decoded, &body.decoded)
      // What lies before the damage is good.
      _ = try deliverDecoded()
      throw ConnectionError(error, url: safeURL)
    }
    swap(&decoded, &body.decoded)
    body.isDecoderFull = body.decoded.count >= LoadDriver.decodedBytes
    return consumed
  }

  /// Goes on where a pause stopped: passes on what was decoded, and what the decoder still holds of bytes that it has
  /// taken; false when some is left.
  func flushDecoded() throws(ConnectionError) -> Bool {
    guard body.decoder != nil else { return true }
    guard try deliverDecoded() else { return false }
    while body.isDecoderFull {
      guard !isStopped else { return false }
      _ = try decode(Span())
      guard try deliverDecoded() else { return false }
    }
    return true
  }

  /// Passes on what was decoded; false when some is left because the load was paused or has ended.
  private func deliverDecoded() throws(ConnectionError) -> Bool {
    guard body.delivered < body.decoded.count else { return true }
    let bytes = body.decoded
    let taken = try split(bytes.span.extracting(body.delivered..<bytes.count))
    body.delivered += taken
    guard body.delivered == bytes.count else { return false }
    body.delivered = 0
    body.decoded.removeAll(keepingCapacity: true)
    return true
  }

  private func split(_ bytes: Span<UInt8>) throws(ConnectionError) -> Int {
    guard body.splitter != nil else {
      deliver(bytes)
      return bytes.count
    }
    var consumed = 0
    while !isStopped {
      let rest = bytes.extracting(consumed..<bytes.count)
      do throws(SyntaxError) {
        guard let step = try body.splitter?.step(rest) else { break }
        consumed += step.consumed
        guard let event = step.event else { break }
        perform(event, rest)
      } catch {
        throw ConnectionError(error, phase: .receiving, url: safeURL)
      }
    }
    return consumed
  }

  /// All that has arrived so far has been passed on.
  func inputPaused() {
    guard body.splitter != nil, !isStopped, let event = body.splitter?.inputPaused() else { return }
    perform(event, Span())
  }

  private func perform(_ event: MixedReplaceSplitter.Event, _ input: Span<UInt8>) {
    switch event {
    case .partBegan(let fields):
      guard let response else { return }
      let part = HTTPURLResponse(
        part: body.parts, of: response, fields: fields,
        expectedLength: MixedReplaceSplitter.promisedLength(of: fields)
          ?? (fields["Content-Length"] == "0" ? 0 : -1))
      body.parts += 1
      dataDelegate?.connection(connection, didReceive: part)
    case .data(let range): deliver(input.extracting(range))
    case .held(let bytes): deliver(bytes.span)
    case .partCompleted: dataDelegate?.connectionDidFinishPart(connection)
    case .partEnded: break  // of no interest to a delegate
    case .finished:
      body.isOver = true
      wire?.endOfStream()
    case .unsplit: break
    }
  }

  private func deliver(_ bytes: Span<UInt8>) {
    guard !bytes.isEmpty, dataDelegate != nil || keeper != nil else { return }
    let data = client.buffers.data(of: bytes)
    if keeper != nil { keep(data) }
    if metrics != nil { noteDelivered(bytes.count) }
    dataDelegate?.connection(connection, didReceive: data)
  }

  /// The body has ended: what was held back is delivered, and a coding or a part that is not complete is an error.
  func finishBody() throws(ConnectionError) {
    if body.decoder != nil, !body.isOver {
      do throws(ContentCodingError) { try body.decoder?.finish() } catch {
        throw ConnectionError(error, url: safeURL)
      }
    }
    guard body.splitter != nil else { return }
    while !isCancelled {
      do throws(SyntaxError) {
        guard let event = try body.splitter?.receivedEndOfFile() else { return }
        perform(event, Span())
      } catch {
        throw ConnectionError(error, phase: .receiving, url: safeURL)
      }
    }
  }
}
