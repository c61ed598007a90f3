import FoundationEssentials
import GannetHTTP
import GannetSockets

/// A request's body on its way to the socket, piece by piece, in the framing its head announced: not a byte more or
/// fewer than the length, or chunks with their end.
final class OutgoingBody {
  /// Where the bytes come from.
  enum Source {
    case data(Data)
    case file(RegularFile)
    /// The pump is started when the first piece is wanted.
    case stream(BodyStream, BodyPump)
  }

  /// What can be done now.
  enum Readiness {
    /// A piece is there to be offered.
    case ready
    /// The source has nothing yet; the load is told when it has.
    case waiting
    /// All has been handed over.
    case done
  }

  /// Data is offered in pieces of this size.
  private static let offeredBytes = 256 * 1024
  /// What is read of a file, or put into one chunk.
  private static let pieceBytes = 64 * 1024

  private let source: Source
  /// How many bytes the head has announced; nil in chunks.
  private let announced: Int64?
  /// How many bytes there are in all; nil when that is not known.
  let length: Int64?
  /// The bytes to be handed over now, with the framing of a chunk where there is one.
  private var buffer: [UInt8] = []
  private var sent = 0
  /// Where the bytes of the body stand in `buffer`.
  private var payload = 0..<0
  /// Body bytes that were taken from the source; of data, that were sent.
  private var produced: Int64 = 0
  /// Whether `buffer` is still being filled, with `sent` and `payload` not set.
  private var isGathering = false
  /// Whether `buffer` holds the end.
  private var isAtEnd = false
  /// Whether the stream has been begun: it is not to be had again.
  private(set) var hasBegunStream = false

  init(_ source: Source) {
    self.source = source
    switch source {
    case .data(let data): (announced, length) = (Int64(data.count), Int64(data.count))
    case .file(let file): (announced, length) = (file.byteCount, file.byteCount)
    case .stream(let stream, _):
      length = stream.length
      announced = stream.hasTrailers ? nil : stream.length
    }
  }

  /// Sees to it that there is a piece to offer, if there can be one now.
  func prepare() throws(RequestBodyError) -> Readiness {
    if case .data(let data) = source { return produced < data.count ? .ready : .done }
    if !isGathering {
      if sent < buffer.count { return .ready }
      if isAtEnd { return .done }
      buffer.removeAll(keepingCapacity: true)
      sent = 0
      payload = 0..<0
    }
    switch source {
    case .data: return .done
    case .file(let file): return try read(file)
    case .stream(let stream, let pump): return try pull(stream, pump)
    }
  }

  /// Offers what is ready; `send` says how many bytes it took. Returns how many of those were the body's.
  func offer<Failure: Error>(_ send: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) -> Int {
    if case .data(let data) = source {
      let start = Int(produced)
      let end = min(data.count, start + OutgoingBody.offeredBytes)
      let taken = try send(data.span.extracting(start..<end))
      produced += Int64(taken)
      return taken
    }
    let before = payload.clamped(to: 0..<sent).count
    let lent = buffer
    sent += try send(lent.span.extracting(sent..<lent.count))
    return payload.clamped(to: 0..<sent).count - before
  }

  /// Nothing more of it is wanted.
  func cancel() {
    if case .stream(_, let pump) = source { pump.cancel() }
  }

  // MARK: Files

  private func read(_ file: RegularFile) throws(RequestBodyError) -> Readiness {
    let missing = file.byteCount - produced
    guard missing > 0 else { return .done }
    let count: Int
    do throws(SystemError) {
      count = try file.read(Int(min(Int64(OutgoingBody.pieceBytes), missing)), appendingTo: &buffer)
    } catch { throw .unreadable(error) }
    guard count > 0 else { throw .tooShort(missing: missing) }
    produced += Int64(count)
    payload = 0..<count
    return .ready
  }

  // MARK: Streams

  private func pull(_ stream: BodyStream, _ pump: BodyPump) throws(RequestBodyError) -> Readiness {
    if !hasBegunStream {
      hasBegunStream = true
      pump.start(stream)
    }
    let start = announced == nil ? OutgoingBody.chunkLineBytes : 0
    if !isGathering { buffer.append(contentsOf: repeatElement(0, count: start)) }
    isGathering = true
    while true {
      let room = max(1, OutgoingBody.pieceBytes - (buffer.count - start))
      switch pump.take(room, appendingTo: &buffer) {
      case .bytes(let count):
        produced += Int64(count)
        if let length, produced > length { throw .tooLong(announced: length) }
        // The last piece waits for the sequence's end: who has announced fewer bytes than come has made a mistake, and
        // the server is not to take what came so far for the whole.
        if count == 0 || produced == announced { continue }
        return frame(from: start)
      case .nothingYet:
        return buffer.count > start && produced != announced ? frame(from: start) : .waiting
      case .ended(.failed(let error)): throw error
      case .ended(.complete(let trailers)):
        if let length, produced < length { throw .tooShort(missing: length - produced) }
        isAtEnd = true
        _ = frame(from: start)
        if announced == nil { try end(with: trailers) }
        return sent < buffer.count ? .ready : .done
      }
    }
  }

  /// Room for a chunk's size and its line end, before the data.
  private static let chunkLineBytes = String(pieceBytes, radix: 16).utf8.count + 2

  /// Makes what was gathered a piece to offer; in chunks, one of them.
  private func frame(from start: Int) -> Readiness {
    isGathering = false
    payload = start..<buffer.count
    sent = start
    guard announced == nil, !payload.isEmpty else { return .ready }
    let line = Array("\(String(payload.count, radix: 16))\r\n".utf8)
    sent = start - line.count
    for (index, byte) in line.enumerated() { buffer[sent + index] = byte }
    buffer += [0x0D, 0x0A]
    return .ready
  }

  private func end(with trailers: FieldList) throws(RequestBodyError) {
    do throws(RequestError) {
      try ChunkedEncoder().appendEnd(trailers: trailers, to: &buffer)
    } catch { throw .badTrailers(error) }
  }
}

/// Why a body cannot be sent whole.
enum RequestBodyError: Error, Hashable {
  /// The file of this path cannot be opened.
  case unopened(String, SystemError)
  /// The file cannot be read on.
  case unreadable(SystemError)
  /// It ended before the length that was announced.
  case tooShort(missing: Int64)
  /// It goes on past the length that was announced.
  case tooLong(announced: Int64)
  /// It can be had but once, and has been.
  case spent
  /// A part of a form has trailers.
  case trailersInPart
  /// Its sequence threw; in the error's words.
  case failed(String)
  /// Its trailers cannot be sent.
  case badTrailers(RequestError)
}
