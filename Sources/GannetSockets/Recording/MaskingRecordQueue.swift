/// Holds records until nothing in them can change any more: until the request they gather is complete, and until
/// each head line in them is complete, because masking a secret needs the whole line.
///
/// What is held is bounded by the load itself: the head limit of responses, the head of the request the caller made,
/// and `requestRecordBytes`.
struct MaskingRecordQueue: Sendable {
  /// Bytes of one request gathered in one record; a longer one continues in further records.
  private static let requestRecordBytes = 1 << 20

  /// One direction of a connection.
  private struct Stream: Hashable {
    let connection: Int
    let isClient: Bool
  }

  /// The head that is coming in on a stream.
  private struct Head {
    var splitter: HeadLineSplitter
    /// Where the line that has begun lies: the number of the record, the place in it.
    var record = 0
    var offset = 0
    /// Whether the previous field was masked, so that its continuation lines are too.
    var continuesSecret = false
  }

  private let keepsSecrets: Bool
  private var waiting: [Recording.Record] = []
  /// Records have numbers, from 0: that of the first in `waiting`.
  private var firstNumber = 0
  private var heads: [Stream: Head] = [:]
  /// The number of the record that gathers the request being sent on a connection.
  private var gathering: [Int: Int] = [:]

  init(keepsSecrets: Bool) { self.keepsSecrets = keepsSecrets }

  /// What comes next on the connection are the heads of a request and of its response.
  mutating func requestBegan(on connection: Int) {
    gathering[connection] = nil
    for isClient in [true, false] { finishHead(of: Stream(connection: connection, isClient: isClient)) }
  }

  /// Adds bytes of a request to the record that gathers it.
  mutating func appendSent(_ bytes: [UInt8], on connection: Int, at microseconds: Int64, endsRequest: Bool) {
    let stream = Stream(connection: connection, isClient: true)
    if let number = gathering[connection], case .sent(var gathered) = waiting[number - firstNumber].event {
      let offset = gathered.count
      // The record lets go of its bytes first, or each piece would copy them.
      waiting[number - firstNumber].event = .sent([])
      gathered += bytes
      waiting[number - firstNumber].event = .sent(gathered)
      scan(bytes, at: offset, ofRecord: number, of: stream)
      if gathered.count >= Self.requestRecordBytes { gathering[connection] = nil }
    } else {
      append(.sent(bytes), on: connection, at: microseconds)
      gathering[connection] = lastNumber
      scan(bytes, at: 0, ofRecord: lastNumber, of: stream)
    }
    if endsRequest { gathering[connection] = nil }
  }

  /// Adds what the server did.
  mutating func appendReceived(_ event: Recording.Event, on connection: Int, at microseconds: Int64) {
    gathering[connection] = nil
    append(event, on: connection, at: microseconds)
    guard case .received(let bytes) = event else { return }
    scan(bytes, at: 0, ofRecord: lastNumber, of: Stream(connection: connection, isClient: false))
  }

  /// Gives the records that can no longer change, in order, and forgets them.
  mutating func takeReady() -> [Recording.Record] {
    var limit = firstNumber + waiting.count
    for head in heads.values where head.splitter.isWithinLine { limit = min(limit, head.record) }
    for number in gathering.values { limit = min(limit, number) }
    let ready = Array(waiting[..<(limit - firstNumber)])
    waiting.removeFirst(ready.count)
    firstNumber = limit
    return ready
  }

  /// Nothing more will come: lines that have no end are masked as they are.
  mutating func finish() {
    for stream in Array(heads.keys) { finishHead(of: stream) }
    gathering.removeAll()
  }

  private var lastNumber: Int { firstNumber + waiting.count - 1 }

  private mutating func append(_ event: Recording.Event, on connection: Int, at microseconds: Int64) {
    waiting.append(Recording.Record(connection: connection, microseconds: microseconds, event: event))
  }

  // MARK: Masking

  /// Reads the head lines in `bytes`, which lie at `base` in a record, and masks those that are complete.
  private mutating func scan(_ bytes: [UInt8], at base: Int, ofRecord record: Int, of stream: Stream) {
    guard !keepsSecrets else { return }
    var head =
      heads.removeValue(forKey: stream) ?? Head(splitter: HeadLineSplitter(isClient: stream.isClient))
    var index = 0
    while index < bytes.count, head.splitter.isInHead {
      if !head.splitter.isWithinLine { (head.record, head.offset) = (record, base + index) }
      if let line = head.splitter.step(bytes[index]) { mask(line, &head, of: stream) }
      index += 1
    }
    heads[stream] = head
  }

  /// A head that has not come whole is masked as far as it came.
  private mutating func finishHead(of stream: Stream) {
    guard var head = heads.removeValue(forKey: stream), head.splitter.isWithinLine else { return }
    mask(head.splitter.finish(), &head, of: stream)
  }

  /// Masks a line in the records that hold it.
  private mutating func mask(_ line: [UInt8], _ head: inout Head, of stream: Stream) {
    var masked = line
    head.continuesSecret = SecretMask.mask(headLine: &masked, isContinuation: head.continuesSecret)
    if masked != line { put(masked, at: head.offset, ofRecord: head.record, of: stream) }
  }

  /// Puts `masked` over the bytes of `stream` at `offset` in a record and, past its end, on into the stream's next.
  private mutating func put(_ masked: [UInt8], at offset: Int, ofRecord record: Int, of stream: Stream) {
    var offset = offset
    var rest = masked[...]
    for index in (record - firstNumber)..<waiting.count where !rest.isEmpty {
      guard waiting[index].connection == stream.connection else { continue }
      switch waiting[index].event {
      case .sent(var bytes) where stream.isClient:
        overwrite(&bytes, at: offset, with: &rest)
        waiting[index].event = .sent(bytes)
      case .received(var bytes) where !stream.isClient:
        overwrite(&bytes, at: offset, with: &rest)
        waiting[index].event = .received(bytes)
      default: continue
      }
      offset = 0
    }
  }

  private func overwrite(_ bytes: inout [UInt8], at offset: Int, with rest: inout ArraySlice<UInt8>) {
    let part = rest.prefix(bytes.count - offset)
    bytes.replaceSubrange(offset..<offset + part.count, with: part)
    rest = rest.dropFirst(part.count)
  }
}
