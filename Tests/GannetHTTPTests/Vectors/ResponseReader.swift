import GannetHTTP
import TestSupport

/// Reads responses from bytes with the layer's decoders and nothing else, one after the other for as long as the
/// connection can be used again.
struct ResponseReader {
  struct Message: Equatable {
    var head: ResponseHead
    var framing: BodyFraming
    var persistence: Persistence
    var body: [UInt8] = []
    var trailers = FieldList()
    /// Whether the framing said that this was the end.
    var isComplete = false
  }

  /// What came of an input.
  struct Reading: Equatable {
    var messages: [Message] = []
    var error: SyntaxError?
    /// Bytes after the last message that no decoder took.
    var leftOver = 0
    /// Whether the input ended within a head.
    var isInHead = false
  }

  private enum State {
    case head(ResponseHeadDecoder)
    case length(Int64)
    case chunked(ChunkedDecoder)
    case close
    case ended
  }

  private let method: String
  private var state = State.head(ResponseHeadDecoder())
  private(set) var reading = Reading()

  init(answering method: String) { self.method = method }

  /// Reads `bytes` at every cut. Returns what came of the whole, and the first cut that gave something else.
  static func read(_ bytes: [UInt8], answering method: String = "GET") -> (reading: Reading, mismatch: Cut?) {
    let whole = read(bytes, answering: method, cut: .whole)
    let mismatch = Cut.all(of: bytes.count).first { read(bytes, answering: method, cut: $0) != whole }
    return (whole, mismatch)
  }

  static func read(_ bytes: [UInt8], answering method: String, cut: Cut) -> Reading {
    var reader = ResponseReader(answering: method)
    do throws(SyntaxError) {
      for piece in cut.pieces(of: bytes) { try reader.receive(piece) }
    } catch {
      reader.reading.error = error
    }
    if reader.reading.error == nil, case .head(let decoder) = reader.state {
      reader.reading.isInHead = !decoder.isIdle
    }
    return reader.reading
  }

  mutating func receive(_ piece: ArraySlice<UInt8>) throws(SyntaxError) {
    var rest = piece
    while !rest.isEmpty {
      switch state {
      case .head(var decoder):
        let (consumed, head) = try decoder.step(rest.span)
        rest = rest.dropFirst(consumed)
        state = .head(decoder)
        if let head { try begin(head) }
      case .length(let left):
        let taken = Int(min(left, Int64(rest.count)))
        append(rest.prefix(taken))
        rest = rest.dropFirst(taken)
        state = .length(left - Int64(taken))
        if left == taken { end() }
      case .chunked(var decoder):
        let (consumed, step) = try decoder.step(rest.span)
        state = .chunked(decoder)
        switch step {
        case .needsInput: break
        case .body(let range): append(rest.dropFirst(range.lowerBound).prefix(range.count))
        case .trailers(let fields):
          reading.messages[reading.messages.count - 1].trailers = fields
          end()
        }
        rest = rest.dropFirst(consumed)
      case .close:
        append(rest)
        rest = []
      case .ended:
        reading.leftOver += rest.count
        rest = []
      }
    }
  }

  private mutating func begin(_ head: ResponseHead) throws(SyntaxError) {
    let (framing, persistence) = try BodyFraming.decide(for: head, answering: method)
    reading.messages.append(Message(head: head, framing: framing, persistence: persistence))
    switch framing {
    case .none, .upgrade, .length(0): end()
    case .length(let length): state = .length(length)
    case .chunked: state = .chunked(ChunkedDecoder())
    case .close: state = .close
    }
  }

  private mutating func append(_ data: ArraySlice<UInt8>) {
    reading.messages[reading.messages.count - 1].body.append(contentsOf: data)
  }

  private mutating func end() {
    reading.messages[reading.messages.count - 1].isComplete = true
    let isReusable = reading.messages[reading.messages.count - 1].persistence.isReusable
    state = isReusable ? .head(ResponseHeadDecoder()) : .ended
  }
}
