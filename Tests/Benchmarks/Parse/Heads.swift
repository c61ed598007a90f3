import GannetHTTP

/// A head of about 600 bytes with 14 fields, as a web server sends one.
let plainHead = [
  "HTTP/1.1 200 OK", "Date: Tue, 01 Dec 2026 08:00:00 GMT", "Server: example/2.4.58 (Unix)",
  "Content-Type: text/html; charset=utf-8", "Content-Length: 18734", "Connection: keep-alive",
  "Keep-Alive: timeout=60, max=1000", "Last-Modified: Mon, 30 Nov 2026 17:21:09 GMT",
  "ETag: \"492e-62c1b6f0a4d40\"", "Cache-Control: public, max-age=3600, must-revalidate",
  "Vary: Accept-Encoding",
  "Set-Cookie: id=8c1f0e5d2b7a49638c1f0e5d2b7a4963; Path=/; Expires=Wed, 01 Dec 2027 08:00:00 GMT; Secure; HttpOnly",
  "X-Content-Type-Options: nosniff", "X-Request-Id: 6f0c8a52-19d4-4b7e-a3c5-d2e81b9f7034",
  "Strict-Transport-Security: max-age=31536000", "", "",
].joined(separator: "\r\n")

/// Reads a head so many times, one after the other, by a decoder that is restarted: nanoseconds a head.
func headTime(_ bytes: [UInt8], rounds: Int, _ decoder: inout ResponseHeadDecoder) throws -> Double {
  try nanoseconds {
    for _ in 0..<rounds {
      decoder.restart()
      guard try decoder.step(bytes.span).consumed == bytes.count else { quit("the head was not read") }
    }
  } / Double(rounds)
}

/// Reads a head so many times, in two pieces, cut at another place each time.
func readInPieces(_ bytes: [UInt8], rounds: Int, _ decoder: inout ResponseHeadDecoder) throws {
  for round in 0..<rounds {
    decoder.restart()
    let cut = 1 + round % (bytes.count - 1)
    _ = try decoder.step(bytes.span.extracting(0..<cut))
    guard try decoder.step(bytes.span.extracting(cut...)).head?.status != nil else {
      quit("the head was not read")
    }
  }
}

/// A whole head: the decoder, with its copy of the bytes, beside each peer in turn, 20 times.
func measureHead(_ bytes: [UInt8], beside peers: [Peer]) throws {
  let rounds = 5000
  var decoder = ResponseHeadDecoder()
  let alone = try Sample(20) { try headTime(bytes, rounds: rounds, &decoder) }
  var line = Line("head")
  line.add("bytes", bytes.count)
  line.add("ns", alone)
  line.add("MBps", Double(bytes.count) * 1000 / alone.median)
  line.print()
  for peer in peers {
    var own: [Double] = []
    var theirs: [Double] = []
    for _ in 0..<20 {
      own.append(try headTime(bytes, rounds: rounds, &decoder))
      theirs.append(peer.time(bytes, rounds))
    }
    let ratio = Sample(zip(theirs, own).map { $0 / $1 })
    var line = Line("head")
    line.add("beside", peer.name)
    line.add("ns", Sample(own))
    line.add("their_ns", Sample(theirs))
    line.add("ratio", ratio)
    line.print(ratio.median, atLeast: peer.target)
  }
}

/// The same head in two pieces, at each place, and in more: what each further cut costs.
func measureCuts(_ bytes: [UInt8]) throws {
  var decoder = ResponseHeadDecoder()
  let whole = try Sample(20) { try headTime(bytes, rounds: 2000, &decoder) }.median
  for pieces in [2, 3, 5, 9, 17, 33, bytes.count] {
    // The cuts lie evenly, and are moved on each round.
    let length = max(1, bytes.count / pieces)
    let rounds = 2000
    let time = try Sample(20) {
      try nanoseconds {
        for round in 0..<rounds {
          decoder.restart()
          var start = 0
          var end = pieces == bytes.count ? 1 : 1 + round % length
          while start < bytes.count {
            _ = try decoder.step(bytes.span.extracting(start..<end))
            start = end
            end = min(bytes.count, end + length)
          }
        }
      } / Double(rounds)
    }
    var line = Line("cuts")
    line.add("pieces", pieces)
    line.add("ns", time)
    line.add("ns_per_cut", (time.median - whole) / Double(pieces - 1))
    line.print()
  }
}
