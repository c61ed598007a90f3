import FoundationEssentials

/// Memory to receive into, which `Data` may share: what fills a good part of it is delivered without being copied.
///
/// It is filled anew only while nobody has such data; else it is left to them, and other memory is taken. So what
/// somebody keeps takes at most twice its size; of a stream at full speed eight times, as there is more room then.
final class ReceiveBuffer {
  /// Bytes received at once: 16 KiB costs half as much again (docs/BENCHMARKS.md).
  static let byteCount = 64 * 1024
  /// Bytes received at once where the last ones filled the room there was. Where little comes at a time, so much room
  /// would mean that it is copied.
  static let largeByteCount = 256 * 1024
  /// What is smaller is copied.
  private static let sharedByteCount = byteCount / 2

  // SAFETY: the memory lives as long as this, and only this file reaches it.
  @safe private final class Memory: Sendable {
    // UNCHECKED: who has the memory by way of `Data` reads or owns a part of its own.
    nonisolated(unsafe) let bytes: UnsafeMutableBufferPointer<UInt8>

    // SAFETY: the memory is initialised once, whole, and let go once.
    init(_ count: Int) {
      unsafe bytes = .allocate(capacity: count)
      unsafe bytes.initialize(repeating: 0)
    }
    // SAFETY: as above.
    deinit { unsafe bytes.deallocate() }

    var count: Int { unsafe bytes.count }
  }

  private var memory = Memory(byteCount)
  /// That of the other size, once there was need of it.
  private var other: Memory?
  /// How much of the memory was filled last.
  private var filled = 0

  /// Lends the memory to be filled.
  func fill<Result, Failure>(
    _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let isLarge = memory.count > ReceiveBuffer.byteCount
    if isLarge != (filled >= ReceiveBuffer.byteCount) {
      let next = other ?? Memory(isLarge ? ReceiveBuffer.byteCount : ReceiveBuffer.largeByteCount)
      (memory, other) = (next, memory)
    }
    if !isKnownUniquelyReferenced(&memory) { memory = Memory(memory.count) }
    let memory = memory
    // SAFETY: nobody else has the memory, and it lives for the call.
    var span = unsafe MutableSpan(_unsafeElements: memory.bytes)
    return try body(&span)
  }

  /// Lends the first bytes, as they were filled.
  func withBytes<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    filled = count
    let memory = memory
    // SAFETY: all of the memory is initialised, and it lives for the call.
    return body(unsafe Span(_unsafeElements: memory.bytes).extracting(first: count))
  }

  /// Whether so much of the memory is of use that it may be kept for a part of that.
  private var isWellFilled: Bool { filled >= memory.count / 2 }

  /// The bytes, which `withBytes` lent a part of, as data; a copy where they are few, or lie elsewhere.
  static func data(of bytes: Span<UInt8>, in buffer: ReceiveBuffer?) -> Data {
    // SAFETY: a copy is made within the call; what is shared keeps the memory as long as it is there.
    unsafe bytes.withUnsafeBytes { part in
      guard part.count >= sharedByteCount, let buffer, buffer.isWellFilled, let start = part.baseAddress
      else { return unsafe Data(part) }
      let memory = buffer.memory
      let whole = unsafe UnsafeRawBufferPointer(memory.bytes)
      guard let first = whole.baseAddress, unsafe start >= first,
        unsafe start + part.count <= first + whole.count
      else { return unsafe Data(part) }
      return unsafe Data(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: part.count,
        deallocator: .custom { _, _ in withExtendedLifetime(memory) {} })
    }
  }
}

/// The buffers of one loop. Reading happens one connection at a time, so that one serves all; a nested turn gets another.
final class ReceiveBuffers {
  private var spare: ReceiveBuffer?
  /// The buffer that is being read into or from, and those of the turns around it, the innermost last.
  private var lent: ReceiveBuffer?
  private var outer: [ReceiveBuffer] = []

  /// Lends a buffer to read into.
  func lend() -> ReceiveBuffer {
    if let lent { outer.append(lent) }
    let buffer = spare ?? ReceiveBuffer()
    spare = nil
    lent = buffer
    return buffer
  }

  /// Takes the buffer that was lent last back.
  func takeBack() {
    spare = lent
    lent = outer.isEmpty ? nil : outer.removeLast()
  }

  /// The bytes as data that outlives them.
  func data(of bytes: Span<UInt8>) -> Data { ReceiveBuffer.data(of: bytes, in: lent) }
}
