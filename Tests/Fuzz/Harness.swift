import GannetHTTP

/// What a decoder made of an input. It must not depend on how the input was cut.
struct Trace: Equatable {
  var events: [String] = []
  var data: [UInt8] = []
  var failure: String?

  mutating func add(_ event: String) {
    flush()
    events.append(event)
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

/// Runs a decoder over `bytes` whole and in pieces that `choice` picks, and stops the process when it ran past its
/// input, stood still, or made something else of the pieces.
///
/// - Parameters:
///   - make: a new decoder.
///   - step: gives it input; returns how much it consumed, and whether to go on: it wants more when false.
///   - finish: ends its input.
func checkCuts<Decoder: ~Copyable>(
  _ bytes: [UInt8], choice: UInt8, _ make: () -> Decoder,
  step: (inout Decoder, Span<UInt8>, inout Trace) throws(SyntaxError) -> (consumed: Int, goesOn: Bool),
  finish: (inout Decoder, inout Trace) throws(SyntaxError) -> Void = { _, _ in }
) {
  func run(_ pieces: [ArraySlice<UInt8>]) -> Trace {
    var decoder = make()
    var trace = Trace()
    do throws(SyntaxError) {
      for piece in pieces {
        var rest = piece
        var stalls = 0
        while true {
          let (consumed, goesOn) = try step(&decoder, rest.span, &trace)
          require(consumed >= 0 && consumed <= rest.count, "consumed more than there was")
          rest = rest.dropFirst(consumed)
          if !goesOn { break }
          stalls = consumed == 0 ? stalls + 1 : 0
          require(stalls < 16, "neither progress nor a wish for more")
        }
      }
      try finish(&decoder, &trace)
    } catch {
      trace.failure = "\(error.rule) \(error.offset) \(error.byte.map { Int($0) } ?? -1)"
    }
    trace.flush()
    return trace
  }
  let whole = run([bytes[...]])
  let other = run(pieces(of: bytes, choice))
  require(other == whole, "the pieces gave \(other), the whole \(whole)")
}

/// Pieces of one byte for 0, of up to eight for less than 64, else two.
func pieces(of bytes: [UInt8], _ choice: UInt8) -> [ArraySlice<UInt8>] {
  guard choice < 64 else {
    let cut = bytes.count * Int(choice - 64) / 192
    return [bytes[..<cut], bytes[cut...]]
  }
  let length = Int(choice) / 8 + 1
  return stride(from: 0, to: bytes.count, by: length).map { bytes[$0..<min(bytes.count, $0 + length)] }
}
