import GannetTLS
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

@Suite("TLS transfer")
struct TransferTests {
  /// Bytes that repeat nowhere near.
  static func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      for shift in stride(from: 0, to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: state >> UInt64(shift)))
      }
    }
    return Array(bytes.prefix(count))
  }

  @Test("64 MiB both ways", arguments: [TLSContext.Version.tls12, .tls13])
  func large(version: TLSContext.Version) throws {
    let pair = try makePair(versions: version...version)
    pair.exchange()
    let block = Self.pattern(1 << 20, seed: 7)
    var wire: [UInt8] = []
    var plain = [UInt8](repeating: 0, count: 256 * 1024)
    var moved = 0
    for _ in 0..<64 {
      for (sender, receiver) in [(pair.client, pair.server), (pair.server, pair.client)] {
        try sender.write(block.span)
        wire.removeAll(keepingCapacity: true)
        sender.drainCiphertext(into: &wire)
        // Receives of 64 KiB, as a socket gives them, cut records anywhere.
        var start = 0
        var matched = 0
        while start < wire.count {
          let end = min(wire.count, start + 65_536)
          try receiver.receive(wire.span.extracting(start..<end)) { receiver throws in
            while true {
              var span = plain.mutableSpan
              guard case .bytes(let count) = try receiver.read(into: &span) else { break }
              #expect(areEqual(plain, block, from: matched, count))
              matched += count
            }
          }
          start = end
        }
        #expect(matched == block.count)
        moved += matched
      }
    }
    #expect(moved == 128 << 20)
  }

  @Test("every size around a record", arguments: [0, 1, 16_383, 16_384, 16_385, 40_000], [1, 4096, Int.max])
  func sizes(count: Int, cut: Int) throws {
    let pair = try makePair()
    pair.exchange()
    let bytes = Self.pattern(count, seed: 3)
    try pair.client.write(bytes)
    pair.client.shutdown()
    pair.cut = cut
    pair.move(from: pair.client, to: pair.server)
    let (got, end) = try pair.server.readAll()
    #expect(got == bytes)
    #expect(end == .closed)
    // The other half stays open.
    try pair.server.write([1, 2, 3])
    pair.move(from: pair.server, to: pair.client)
    #expect(try pair.client.readAll().bytes == [1, 2, 3])
  }

  @Test("an end without close_notify is told apart, wherever the bytes stop")
  func truncation() throws {
    let bytes = Self.pattern(20_000, seed: 5)
    for left in [0, 1, 4, 5, 6, 100, 16_000, 20_000] {
      let pair = try makePair()
      pair.exchange()
      try pair.server.write(bytes)
      var wire: [UInt8] = []
      pair.server.drainCiphertext(into: &wire)
      pair.client.receive(wire.span.extracting(..<max(0, wire.count - left)))
      pair.client.receivedEndOfFile()
      let (got, end) = try pair.client.readAll()
      #expect(end == .truncated)
      #expect(got == Array(bytes.prefix(got.count)))
      #expect(got.count == (left == 0 ? 20_000 : left < 3000 ? 16_384 : 0), "left \(left)")
    }
  }

  @Test("an end of file behind close_notify is a proper end")
  func endAfterClose() throws {
    let pair = try makePair()
    pair.exchange()
    try pair.server.write([1])
    pair.server.shutdown()
    pair.move(from: pair.server, to: pair.client)
    pair.client.receivedEndOfFile()
    let answer = try pair.client.readAll()
    #expect(answer.bytes == [1])
    #expect(answer.end == .closed)
  }

  @Test(
    "a damaged record fails after what was before it, once and for all",
    arguments: [TLSContext.Version.tls12, .tls13])
  func damage(version: TLSContext.Version) throws {
    let pair = try makePair(versions: version...version)
    pair.exchange()
    var wire: [UInt8] = []
    try pair.server.write([1, 2, 3])
    pair.server.drainCiphertext(into: &wire)
    let first = wire.count
    try pair.server.write([4, 5, 6])
    pair.server.drainCiphertext(into: &wire)
    #expect(wire.count > first)
    wire[wire.count - 1] ^= 1
    pair.client.receive(wire.span)
    var buffer = [UInt8](repeating: 0, count: 100)
    var span = buffer.mutableSpan
    #expect(try pair.client.read(into: &span) == .bytes(3))
    let error = #expect(throws: TLSError.self) { _ = try pair.client.readAll() }
    #expect(error?.reason == "TLS failed: decryption failed or bad record mac")
    #expect(throws: TLSError.self) { try pair.client.write([1]) }
    #expect(pair.client.hasCiphertext, "the alert must go out")
    pair.move(from: pair.client, to: pair.server)
    let told = #expect(throws: TLSError.self) { _ = try pair.server.readAll() }
    #expect(told?.reason == "the client ended the connection: it got a damaged record (bad_record_mac)")
    pair.client.shutdown()
  }

  @Test("ciphertext left unread is kept in order")
  func backpressure() throws {
    let pair = try makePair()
    pair.exchange()
    let bytes = Self.pattern(100_000, seed: 9)
    var got: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1000)
    for start in stride(from: 0, to: bytes.count, by: 10_000) {
      try pair.server.write(bytes.span.extracting(start..<(start + 10_000)))
      pair.move(from: pair.server, to: pair.client)
      for _ in 0..<3 {
        var span = buffer.mutableSpan
        guard case .bytes(let count) = try pair.client.read(into: &span) else { break }
        got += buffer[..<count]
      }
    }
    #expect(got.count == 30_000)
    #expect(pair.client.hasUnreadCiphertext)
    got += try pair.client.readAll().bytes
    #expect(got == bytes)
    #expect(!pair.client.hasUnreadCiphertext)
  }

  @Test("nothing can be written before the handshake; shutdown then does nothing")
  func early() throws {
    let pair = try makePair()
    #expect(throws: TLSError.self) { try pair.client.write([1]) }
    pair.client.shutdown()
    pair.exchange()
    #expect(pair.client.isEstablished)
  }
}

/// Whether `piece` begins with `count` bytes of `whole` from `start` on. (`==` takes seconds in a debug build.)
private func areEqual(_ piece: [UInt8], _ whole: [UInt8], from start: Int, _ count: Int) -> Bool {
  guard piece.count >= count, whole.count >= start + count else { return false }
  return unsafe piece.withUnsafeBytes { piece in
    unsafe whole.withUnsafeBytes { whole in
      guard let left = piece.baseAddress, let right = whole.baseAddress else { return count == 0 }
      return unsafe memcmp(left, right + start, count) == 0
    }
  }
}
