import FoundationEssentials
import Testing

@testable import Gannet

@Suite("ReceiveBuffer") struct ReceiveBufferTests {
  /// Fills all the room there is, and returns how much that is.
  @discardableResult
  static func fill(_ buffer: ReceiveBuffer, with byte: UInt8) -> Int {
    buffer.fill { space in
      for index in space.indices { space[index] = byte }
      return space.count
    }
  }

  /// So much was filled, or else what `range` needs and most of the room there is at first.
  static func data(of buffer: ReceiveBuffer, _ range: Range<Int>, filled: Int? = nil) -> Data {
    buffer.withBytes(filled ?? max(60_000, range.upperBound)) {
      ReceiveBuffer.data(of: $0.extracting(range), in: buffer)
    }
  }

  static func address(of data: Data) -> UInt {
    unsafe data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
  }

  /// Whoever keeps data, large and so shared or small and so copied, keeps it whatever is received next.
  @Test(arguments: [0..<1, 7..<1007, 0..<32 * 1024, 100..<60_000, 0..<64 * 1024])
  func dataThatIsKeptDoesNotChange(_ range: Range<Int>) {
    let buffer = ReceiveBuffer()
    Self.fill(buffer, with: 1)
    let first = Self.data(of: buffer, range)
    Self.fill(buffer, with: 2)
    let second = Self.data(of: buffer, range)
    Self.fill(buffer, with: 3)
    #expect(first == Data(repeating: 1, count: range.count))
    #expect(second == Data(repeating: 2, count: range.count))
  }

  @Test func dataThatIsChangedLeavesTheRestAlone() {
    let buffer = ReceiveBuffer()
    Self.fill(buffer, with: 1)
    var first = Self.data(of: buffer, 0..<40_000)
    first.replaceSubrange(0..<40_000, with: Data(repeating: 9, count: 50_000))
    let rest = Self.data(of: buffer, 40_000..<64 * 1024)
    #expect(rest == Data(repeating: 1, count: 64 * 1024 - 40_000))
  }

  /// A steady flow of large pieces that are let go is received into one piece of memory, and none is copied.
  @Test func memoryIsUsedAgainOnceNobodyHasIt() {
    let buffer = ReceiveBuffer()
    var addresses: Set<UInt> = []
    for byte in 0..<100 as Range<UInt8> {
      Self.fill(buffer, with: byte)
      addresses.insert(Self.address(of: Self.data(of: buffer, 5..<60_000)))
    }
    #expect(addresses.count == 1)
  }

  /// A stream that fills the room there is gets more, and less again once it doesn't; a part is shared while most of the
  /// room was filled, and copied where little of it was.
  @Test func aStreamAtFullSpeedGetsMoreRoom() {
    let (small, large) = (ReceiveBuffer.byteCount, ReceiveBuffer.largeByteCount)
    let buffer = ReceiveBuffer()
    let rows: [(filled: Int, next: Int)] = [
      (small - 1, small), (small, large), (large, large), (large / 2, large), (small, large),
      (small - 1, small),
      (0, small), (small, large),
    ]
    var room = Self.fill(buffer, with: 1)
    #expect(room == small)
    for (filled, next) in rows {
      let start = buffer.withBytes(1) {
        unsafe $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      }
      if filled >= 40_000 {
        let data = Self.data(of: buffer, 0..<40_000, filled: filled)
        #expect((Self.address(of: data) == start) == (filled >= room / 2), "\(filled) of \(room)")
      } else {
        buffer.withBytes(filled) { _ in }
      }
      room = Self.fill(buffer, with: 2)
      #expect(room == next, "after \(filled)")
    }
  }
}
