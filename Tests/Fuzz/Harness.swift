import GannetHTTP
import Glibc

/// What a decoder made of an input. It must not depend on how the input was cut.
struct Trace: Equatable {
  var events: [String] = []
  var data: [UInt8] = []
  var failure: String?

  mutating func add(_ event: String) {
    flush()
    events.append(event)
  }

  mutating func fail(_ error: SyntaxError) {
    failure = "\(error.rule) \(error.offset) \(error.byte.map { Int($0) } ?? -1)"
  }

  mutating func flush() {
    if !data.isEmpty { events.append("data \(data)") }
    data = []
  }
}

/// Stops the process with `sentence` unless `condition` holds. (An optimised precondition would not say which it was.)
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) {
  if !condition { fatalError(sentence()) }
}

/// Hands the fuzzer's bytes to `body` as an array.
func withInput(_ start: UnsafePointer<UInt8>?, _ count: Int, _ body: ([UInt8]) -> Void) -> CInt {
  // SAFETY: the fuzzer lends `count` bytes at `start` for the call; they are copied.
  body(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

// UNCHECKED: made once, and used by the one thread that runs the inputs.
/// Memory that ends where no memory is: what is read past its last byte ends the process.
@safe struct GuardedMemory: @unchecked Sendable {
  private let end: UnsafeMutableRawPointer
  private let capacity: Int

  /// Memory for inputs of at most so many bytes.
  init(capacity: Int) {
    let page = Int(getpagesize())
    let length = (capacity + page - 1) / page * page
    let protection = PROT_READ | PROT_WRITE
    // SAFETY: a mapping of its own, kept for the life of the process; its last page is taken away.
    let mapping = unsafe mmap(nil, length + page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard unsafe mapping != MAP_FAILED, let start = unsafe mapping else { fatalError("no memory") }
    unsafe end = start + length
    let failed = unsafe mprotect(end, page, PROT_NONE)
    require(failed == 0, "the guard cannot be set")
    self.capacity = length
  }

  /// Lends a copy of `bytes` that ends at the guard.
  func lend<Failure: Error>(
    _ bytes: ArraySlice<UInt8>, _ body: (Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    require(bytes.count <= capacity, "an input longer than the guarded memory")
    let start = unsafe end - bytes.count
    unsafe bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { unsafe start.copyMemory(from: base, byteCount: source.count) }
    }
    // SAFETY: the copy is `bytes.count` bytes long and not written while it is lent; inputs run one after the other.
    try body(
      unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: bytes.count).span)
  }
}

/// Where every input lies.
let guarded = GuardedMemory(capacity: 1 << 20)

/// Runs a decoder over `bytes` whole and in pieces that `choice` picks, each laid against a guard, and stops the process
/// when it ran past its input, stood still, or made something else of the pieces. Returns what it made of the whole.
///
/// - Parameters:
///   - make: a new decoder.
///   - step: gives it input; returns how much it consumed, and whether to go on: it wants more when false.
///   - finish: ends its input.
@discardableResult
func checkCuts<Decoder: ~Copyable>(
  _ bytes: [UInt8], choice: UInt8, _ make: () -> Decoder,
  step: (inout Decoder, Span<UInt8>, inout Trace) throws(SyntaxError) -> (consumed: Int, goesOn: Bool),
  finish: (inout Decoder, inout Trace) throws(SyntaxError) -> Void = { _, _ in }
) -> Trace {
  func run(_ pieces: [ArraySlice<UInt8>]) -> Trace {
    var decoder = make()
    var trace = Trace()
    do throws(SyntaxError) {
      for piece in pieces {
        try guarded.lend(piece) { (input) throws(SyntaxError) in
          try feed(input) { (rest) throws(SyntaxError) in try step(&decoder, rest, &trace) }
        }
      }
      try finish(&decoder, &trace)
    } catch {
      trace.fail(error)
    }
    trace.flush()
    return trace
  }
  let whole = run([bytes[...]])
  let other = run(pieces(of: bytes[...], choice))
  require(other == whole, "the pieces gave \(other), the whole \(whole)")
  return whole
}

/// Gives all of `input` to `step` until it wants more, and stops the process when it consumes more than there is or
/// stands still.
func feed(
  _ input: Span<UInt8>, _ step: (Span<UInt8>) throws(SyntaxError) -> (consumed: Int, goesOn: Bool)
) throws(SyntaxError) {
  var position = 0
  var stalls = 0
  while true {
    let rest = input.extracting(position..<input.count)
    let (consumed, goesOn) = try step(rest)
    require(consumed >= 0 && consumed <= rest.count, "consumed more than there was")
    position += consumed
    if !goesOn { break }
    stalls = consumed == 0 ? stalls + 1 : 0
    require(stalls < 16, "neither progress nor a wish for more")
  }
}

/// Pieces of one byte for 0, of up to eight for less than 64, else two.
func pieces(of bytes: ArraySlice<UInt8>, _ choice: UInt8) -> [ArraySlice<UInt8>] {
  guard choice < 64 else {
    let cut = bytes.startIndex + bytes.count * Int(choice - 64) / 192
    return [bytes[..<cut], bytes[cut...]]
  }
  let length = Int(choice) / 8 + 1
  return stride(from: bytes.startIndex, to: bytes.endIndex, by: length).map {
    bytes[$0..<min(bytes.endIndex, $0 + length)]
  }
}
