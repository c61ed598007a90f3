import GannetHTTP

/// Chunks of several sizes, all there at once: bytes of data a second.
func measureChunks() throws {
  for (size, target) in [(16 * 1024, 8000.0), (1024, 0), (16, 300), (1, 0)] {
    let chunk =
      Array(String(size, radix: 16).utf8) + [13, 10] + [UInt8](repeating: 0x78, count: size) + [13, 10]
    let count = max(16, (1 << 20) / chunk.count)
    let bytes = Array(repeatElement(chunk, count: count).joined()) + Array("0\r\n\r\n".utf8)
    let rate = try Sample(20) {
      var total = 0
      let repeats = size > 1000 ? 200 : 4
      let time = try nanoseconds {
        for _ in 0..<repeats {
          var decoder = ChunkedDecoder()
          var rest = bytes.span
          while true {
            let (consumed, step) = try decoder.step(rest)
            if case .body(let range) = step { total += range.count }
            if case .trailers = step { break }
            rest = rest.extracting(droppingFirst: consumed)
          }
        }
      }
      guard total == repeats * count * size else { quit("the chunks were not read") }
      return Double(total) * 1000 / time
    }
    var line = Line("chunks")
    line.add("size", size)
    line.add("MBps", rate)
    if target > 0 { line.print(rate.median, atLeast: target) } else { line.print() }
  }
}

/// What is worst for each construct, endlessly, in pieces of 16 KiB with the limits out of the way: bytes a second.
func measureFloods() throws {
  let ok = "HTTP/1.1 200 OK\r\n"
  for (name, start, piece) in [
    ("small fields", ok, "A:b\r\n"), ("one long value", ok + "A: ", "x"), ("one long name", ok, "x"),
    ("one long name of odd bytes", ok, "_"), ("one long reason", "HTTP/1.1 200 ", "x"),
    ("folded lines", ok + "A: b", "\r\n c"), ("blank folded lines", ok + "A: b", "\r\n "),
    ("blanks before a value", ok + "A:", " "), ("tabs in a value", ok + "A: b", "\t"),
    ("lines that name nothing", ok, "x\r\n"), ("spaces before a status", "HTTP/1.1", " "),
  ] {
    try measureFlood(name, start, piece) {
      ResponseHeadDecoder(limits: $0)
    } step: { decoder, input in
      try decoder.step(input).consumed
    }
  }
  for (name, start, piece) in [
    ("chunks of one byte", "", "1\r\nx\r\n"), ("chunk extensions", "1", ";a=b"),
    ("quoted extension", "1;a=\"", "\\\""),
    ("zeros of a size", "", "0"), ("blanks after a size", "1", " "), ("trailers", "0\r\n", "A:b\r\n"),
  ] {
    try measureFlood(name, start, piece) {
      ChunkedDecoder(limits: $0)
    } step: { decoder, input in
      try decoder.step(input).consumed
    }
  }
}

private func measureFlood<Decoder>(
  _ name: String, _ start: String, _ piece: String, _ make: (Limits) -> Decoder,
  step: (inout Decoder, Span<UInt8>) throws -> Int
) throws {
  var limits = Limits()
  limits.headBytes = .max
  limits.lineBytes = .max
  limits.fieldCount = .max
  limits.trailerBytes = .max
  limits.chunkLineBytes = .max
  limits.chunkExtensionBytes = .max
  limits.chunkExtensionTotalBytes = .max
  let unit = Array(piece.utf8)
  func input(_ count: Int) -> [UInt8] {
    Array(start.utf8) + Array(repeatElement(unit, count: count / unit.count).joined())
  }
  func time(_ bytes: [UInt8]) throws -> Double {
    var decoder = make(limits)
    return try nanoseconds {
      for begin in stride(from: 0, to: bytes.count, by: 16_384) {
        var rest = bytes.span.extracting(begin..<min(bytes.count, begin + 16_384))
        while !rest.isEmpty { rest = rest.extracting(droppingFirst: try step(&decoder, rest)) }
      }
    }
  }
  let (small, large) = (input(1 << 18), input(1 << 19))
  var twice = Double.infinity
  // In turn, so that both meet the same machine.
  let growth = try Sample(20) {
    let once = try time(small)
    let time = try time(large)
    twice = min(twice, time)
    return time / once
  }
  let rate = Double(1 << 19) * 1000 / twice
  var line = Line("flood")
  line.add("of", name)
  line.add("twice_to_once", growth)
  line.add("MBps", rate)
  line.print(rate, atLeast: 100)
}
