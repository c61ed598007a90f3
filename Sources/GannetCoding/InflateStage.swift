internal import CZlib
internal import GannetHTTP

/// One coding's decoder around zlib's: finds out the format, joins gzip's members, ignores what follows them.
// SAFETY: the stream is private, made in `init`, freed in `deinit`, and lent only to zlib's calls.
@safe final class InflateStage {
  /// Why a stage cannot go on, and how much of the call's input it had read.
  struct Failure: Error {
    let kind: ContentCodingError.Kind
    let reason: String
    let taken: Int
  }

  private enum State {
    /// No byte has come.
    case start
    /// The first byte could begin the zlib format; the second will tell.
    case tellingFormat(first: UInt8)
    /// Within a stream.
    case inflating
    /// A gzip member is over; whether the first byte of another has come.
    case betweenMembers(sawFirst: Bool)
    /// The coding is over; what follows is ignored.
    case over
  }

  let coding: ContentCoding
  /// Bytes of input taken by the calls that did not throw.
  private(set) var consumed: Int64 = 0
  private var state = State.start
  /// zlib keeps the address of its stream, so it may not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isOpen = false
  private var hasOutput = false

  /// Bytes of output asked of zlib at once.
  private static let pieceBytes = 32 * 1024

  init(_ coding: ContentCoding) {
    self.coding = coding
    // SAFETY: ours until `deinit`.
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
  }

  deinit {
    // SAFETY: nothing else refers to the stream.
    if isOpen { unsafe inflateEnd(stream) }
    unsafe stream.deinitialize(count: 1)
    unsafe stream.deallocate()
  }

  /// Whether the input may end here. A body of no bytes is complete.
  var isComplete: Bool {
    switch state {
    case .start, .betweenMembers, .over: true
    case .tellingFormat, .inflating: false
    }
  }

  /// Decodes a prefix of `input` and appends to `output` until it holds `end` bytes. Says how much was taken and
  /// made; less than all of `input` only when `output` is full.
  func run(
    _ input: Span<UInt8>, into output: inout [UInt8], upTo end: Int
  ) throws(Failure) -> (taken: Int, made: Int) {
    let start = output.count
    let taken = try runUntilStuck(input, into: &output, upTo: end)
    consumed += Int64(taken)
    return (taken, output.count - start)
  }

  /// The states in turn. Returns the bytes taken.
  private func runUntilStuck(
    _ input: Span<UInt8>, into output: inout [UInt8], upTo end: Int
  ) throws(Failure) -> Int {
    var taken = 0
    while true {
      switch state {
      case .start:
        guard taken < input.count else { return taken }
        try begin(with: input[taken], &taken)
      case .tellingFormat(let first):
        guard taken < input.count else { return taken }
        let isZlib = (Int(first) << 8 | Int(input[taken])) % 31 == 0
        try open(windowBits: isZlib ? 15 : -15, taken)
        try feed([first], taken)
        state = .inflating
      case .inflating:
        guard try inflatePiece(input, &taken, into: &output, upTo: end) else {
          return taken
        }
      case .betweenMembers(let sawFirst):
        guard taken < input.count else { return taken }
        guard input[taken] == (sawFirst ? 0x8b : 0x1f) else {
          state = .over
          continue
        }
        taken += 1
        state = .betweenMembers(sawFirst: true)
        if sawFirst { try nextMember(taken) }
      case .over: return input.count
      }
    }
  }

  /// Chooses the format by the first byte, where that is enough. "deflate" is the zlib format by the standard, and
  /// deflate alone by what many servers send: bytes that cannot be the former's are the latter.
  private func begin(with first: UInt8, _ taken: inout Int) throws(Failure) {
    switch coding {
    case .gzip:
      try open(windowBits: 15 + 16, taken)
      state = .inflating
    case .deflate where first & 0x0f == 8 && first >> 4 <= 7:
      taken += 1
      state = .tellingFormat(first: first)
    case .deflate:
      try open(windowBits: -15, taken)
      state = .inflating
    }
  }

  private func open(windowBits: Int32, _ taken: Int) throws(Failure) {
    // SAFETY: the stream is ours and zeroed; zlib checks the size against its own.
    let size = unsafe Int32(MemoryLayout<z_stream>.size)
    guard unsafe inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
      throw Failure(kind: .outOfMemory, reason: "there is no memory for a decoder", taken: taken)
    }
    isOpen = true
  }

  private func nextMember(_ taken: Int) throws(Failure) {
    // SAFETY: the stream is open.
    unsafe inflateReset(stream)
    try feed([0x1f, 0x8b], taken)
    state = .inflating
  }

  /// Gives zlib bytes that were held back to tell a format; they make no output.
  private func feed(_ held: [UInt8], _ taken: Int) throws(Failure) {
    var held = held
    var nowhere: UInt8 = 0
    // SAFETY: zlib reads the held bytes within this closure and may write nothing.
    let status = unsafe held.withUnsafeMutableBufferPointer { bytes in
      unsafe withUnsafeMutablePointer(to: &nowhere) { nowhere in
        unsafe stream.pointee.next_in = bytes.baseAddress
        unsafe stream.pointee.avail_in = UInt32(bytes.count)
        unsafe stream.pointee.next_out = nowhere
        unsafe stream.pointee.avail_out = 0
        return unsafe inflate(stream, Z_NO_FLUSH)
      }
    }
    guard status == Z_OK else { throw failure(status, taken) }
  }

  /// Runs zlib once. False when it can do no more: `output` is full, or more input is needed.
  private func inflatePiece(
    _ input: Span<UInt8>, _ taken: inout Int, into output: inout [UInt8], upTo end: Int
  ) throws(Failure) -> Bool {
    let filled = output.count
    let room = min(end - filled, InflateStage.pieceBytes)
    guard room > 0 else { return false }
    let offered = min(input.count - taken, Int(UInt32.max))
    var status = Z_OK
    // SAFETY: zlib reads `offered` bytes and writes at most `room`, both within these closures. Its interface is not
    // const, but it does not write its input.
    unsafe input.withUnsafeBufferPointer { bytes in
      output.append(addingCapacity: room) { span in
        unsafe span.withUnsafeMutableBufferPointer { buffer, made in
          let source = unsafe bytes.baseAddress.map { unsafe UnsafeMutablePointer(mutating: $0 + taken) }
          unsafe stream.pointee.next_in = source
          unsafe stream.pointee.avail_in = UInt32(offered)
          unsafe stream.pointee.next_out = buffer.baseAddress
          unsafe stream.pointee.avail_out = UInt32(room)
          status = unsafe inflate(stream, Z_NO_FLUSH)
          made = room - Int(unsafe stream.pointee.avail_out)
        }
      }
    }
    // SAFETY: the stream is ours; zlib left in it what it did not use.
    let left = Int(unsafe stream.pointee.avail_in)
    let unused = Int(unsafe stream.pointee.avail_out)
    taken += offered - left
    if unused < room { hasOutput = true }
    switch status {
    case Z_OK: return unused == 0 || left > 0
    case Z_BUF_ERROR: return false
    case Z_STREAM_END:
      state = coding == .gzip ? .betweenMembers(sawFirst: false) : .over
      return true
    default: throw failure(status, taken)
    }
  }

  private func failure(_ status: Int32, _ taken: Int) -> Failure {
    let name = coding.rawValue
    if status == Z_MEM_ERROR {
      return Failure(kind: .outOfMemory, reason: "there is no memory for a decoder", taken: taken)
    }
    if status == Z_NEED_DICT {
      return Failure(kind: .damaged, reason: "the \(name) body needs a dictionary", taken: taken)
    }
    // SAFETY: the message is a constant of zlib's, or nil.
    let words = unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "error \(status)"
    let isOther = !hasOutput && (coding == .deflate || words == "incorrect header check")
    if isOther {
      return Failure(
        kind: .mislabelled, reason: "the body is labelled \(name) and is not: \(words)", taken: taken)
    }
    return Failure(kind: .damaged, reason: "the \(name) body is damaged: \(words)", taken: taken)
  }
}
