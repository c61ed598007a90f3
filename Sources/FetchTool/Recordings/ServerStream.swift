package import GannetHTTP
import GannetMultipart
package import GannetSockets

/// What the server sent on one recorded connection, and where the parts of its responses lie. Reading stops at what
/// is no response, without a word: a recording may well be one of a bad server.
package struct ServerStream: Sendable {
  /// A run of body bytes.
  package struct Piece: Hashable, Sendable {
    /// Its place in `bytes`.
    package let data: Range<Int>
    /// The place of the hexadecimal digits that give its length, for a chunk.
    package let sizeDigits: Range<Int>?
  }

  /// One response.
  package struct Response: Sendable {
    /// The head, its empty line included.
    package let headRange: Range<Int>
    /// The head.
    package let head: ResponseHead
    /// How its body ends.
    package let framing: BodyFraming
    /// The body's bytes, in order.
    package fileprivate(set) var body: [Piece] = []
    /// Whether all of it is there. One that the end of the stream ends is complete with that.
    package fileprivate(set) var isComplete = false
  }

  /// Everything the server sent, in order.
  package let bytes: [UInt8]
  /// The responses that can be made out, informational ones included.
  package private(set) var responses: [Response] = []
  /// Whether the server ended its side.
  package let hasEnded: Bool

  /// Reads the connection with this number.
  package init(_ recording: Recording, connection: Int) {
    var bytes: [UInt8] = []
    var methods: [String] = []
    var hasEnded = false
    for record in recording.records where record.connection == connection {
      switch record.event {
      case .sent(let request):
        let word = request.prefix { $0 > 0x20 && $0 < 0x7F }
        methods.append(word.isEmpty ? "GET" : String(decoding: word, as: UTF8.self))
      case .received(let segment): bytes += segment
      case .endOfFile, .reset: hasEnded = true
      }
    }
    self.bytes = bytes
    self.hasEnded = hasEnded
    readResponses(to: methods[...])
  }

  /// Whether the last response has not come whole, and the server was not at its end: on replay it would never end.
  package var isUnfinished: Bool {
    guard !hasEnded else { return false }
    guard let last = responses.last else { return true }
    return !last.isComplete
  }

  private mutating func readResponses(to methods: ArraySlice<String>) {
    var methods = methods
    var position = 0
    while position < bytes.count {
      var decoder = ResponseHeadDecoder()
      guard let step = try? decoder.step(bytes.span.extracting(position..<bytes.count)), let head = step.head,
        let framing = try? BodyFraming.decide(for: head, answering: methods.first ?? "GET").framing
      else { return }
      let bodyStart = position + step.consumed
      var response = Response(headRange: position..<bodyStart, head: head, framing: framing)
      let end = readBody(of: &response, from: bodyStart)
      responses.append(response)
      guard let end else { return }
      position = end
      if head.status >= 200 { methods = methods.dropFirst() }
    }
  }

  /// Gives where the next response begins; nil when there can be none.
  private func readBody(of response: inout Response, from start: Int) -> Int? {
    switch response.framing {
    case .none:
      response.isComplete = true
      return start
    case .length(let length):
      let end = length > Int64(bytes.count - start) ? bytes.count : start + Int(length)
      response.body = [Piece(data: start..<end, sizeDigits: nil)]
      response.isComplete = Int64(end - start) == length
      return response.isComplete ? end : nil
    case .close, .upgrade:
      response.body = [Piece(data: start..<bytes.count, sizeDigits: nil)]
      response.isComplete = hasEnded
      return nil
    case .chunked:
      return readChunks(of: &response, from: start)
    }
  }

  private func readChunks(of response: inout Response, from start: Int) -> Int? {
    var position = start
    while let lineEnd = bytes[position...].firstIndex(of: 0x0A) {
      let digits = position..<(bytes[position..<lineEnd].firstIndex { !$0.isHexDigit } ?? lineEnd)
      guard let size = Int(String(decoding: bytes[digits], as: UTF8.self), radix: 16) else { return nil }
      position = lineEnd + 1
      if size == 0 { return endOfTrailers(from: position, &response) }
      let end = size > bytes.count - position ? bytes.count : position + size
      response.body.append(Piece(data: position..<end, sizeDigits: digits))
      guard let dataEnd = bytes[end...].firstIndex(of: 0x0A) else { return nil }
      position = dataEnd + 1
    }
    return nil
  }

  private func endOfTrailers(from start: Int, _ response: inout Response) -> Int? {
    var position = start
    while let lineEnd = bytes[position...].firstIndex(of: 0x0A) {
      let isEmpty = bytes[position..<lineEnd].allSatisfy { $0 == 0x0D }
      position = lineEnd + 1
      if isEmpty {
        response.isComplete = true
        return position
      }
    }
    return nil
  }
}

extension ServerStream {
  /// The body of a response as a sequence of its own, its places counted from 0: what is data, and what lies between
  /// the parts of a multipart stream, delimiters and fields.
  struct BodyLayout {
    var data: [Range<Int>] = []
    var betweenParts: [Range<Int>] = []
  }

  /// Takes the body of a multipart stream apart; any other is all data.
  func layout(of response: Response) -> BodyLayout {
    let body = response.body.flatMap { bytes[$0.data] }
    guard let type = response.head.fields["Content-Type"],
      var splitter = MixedReplaceSplitter(contentType: type)
    else { return BodyLayout(data: body.isEmpty ? [] : [body.indices]) }
    var layout = BodyLayout()
    var position = 0
    var end = 0
    while position < body.count, let step = try? splitter.step(body.span.extracting(position..<body.count)) {
      switch step.event {
      case .partBegan: layout.betweenParts.append(end..<position + step.consumed)
      case .data(let range):
        layout.data.append(position + range.lowerBound..<position + range.upperBound)
        end = position + range.upperBound
      case .partCompleted, .partEnded, .held, .finished: break
      case .unsplit:
        layout.data.append(position..<body.count)
        return layout
      case nil: return layout
      }
      position += step.consumed
    }
    return layout
  }

  /// Where a range of a body lies in the stream: in one range for each piece that it touches.
  static func places(of range: Range<Int>, in pieces: [Piece]) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var start = 0
    for piece in pieces {
      let inBody = start..<start + piece.data.count
      start = inBody.upperBound
      let overlap = inBody.clamped(to: range)
      guard !overlap.isEmpty else { continue }
      let shift = piece.data.lowerBound - inBody.lowerBound
      result.append(overlap.lowerBound + shift..<overlap.upperBound + shift)
    }
    return result
  }

  /// Where to cut the stream in two: everywhere while it is short, else where something else than data is near, and
  /// at a sample of the rest (docs/INTERFACES.md).
  package var cuts: [Int] {
    let data = responses.flatMap { response in
      layout(of: response).data.flatMap { Self.places(of: $0, in: response.body) }
    }
    return ParseCuts.places(bytes.count, data: data)
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 6 }
}

extension Recording {
  /// The same recording in which the server ends each connection whose last response did not come whole: the
  /// recorded client left, or gave up, and on replay nobody does.
  package var endingWhatIsUnfinished: Recording {
    var copy = self
    let last = records.last?.microseconds ?? 0
    for connection in connections where ServerStream(self, connection: connection.number).isUnfinished {
      guard records.contains(where: { $0.connection == connection.number }) else { continue }
      copy.records.append(Record(connection: connection.number, microseconds: last, event: .endOfFile))
    }
    return copy
  }
}
