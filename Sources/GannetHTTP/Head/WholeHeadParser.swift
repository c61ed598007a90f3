/// Reads a head that lies whole and plain at the start of the input, in one pass.
///
/// It knows the common form only, HTTP/1.x with single spaces, lines that end with CRLF and no folded, nameless or
/// wrong one; anything else is left to the decoders that go byte by byte, which say what is wrong. So it must agree with them on what it
/// takes: a test proves that on the fixtures and on random changes of them.
enum WholeHeadParser {
  /// Reads the head at the start of `input`.
  ///
  /// - Parameters:
  ///   - places: room for the places of its fields, the first of which it holds afterwards.
  /// - Returns: the head's length in bytes, its status line, and the number of its fields; nil when it is not whole, not
  ///   plain, or past a limit.
  static func parse(
    _ input: Span<UInt8>, limits: Limits, places: inout [FieldPlaces]
  ) -> (consumed: Int, line: StatusLine, fields: Int)? {
    // A head within the limit on one line has no line past it. Places are 32 bits wide.
    let window = input.extracting(first: max(0, min(limits.headBytes, limits.lineBytes, Int(Int32.max))))
    guard let (line, start) = statusLine(window) else { return nil }
    // Room for few fields at first, as there seldom are more.
    var room = 32
    while true {
      while places.count < room { places.append(FieldPlaces(0, 0, 0, 0)) }
      let lines = FieldLines.read(window, from: start, into: &places)
      if lines.end >= 0 {
        guard lines.count <= limits.fieldCount else { return nil }
        return (lines.end, line, lines.count)
      }
      guard lines.isFull, places.count < limits.fieldCount else { return nil }
      room = places.count * 4
    }
  }

  /// Reads `HTTP/1.x nnn` with what follows up to the line end.
  private static func statusLine(_ input: Span<UInt8>) -> (line: StatusLine, end: Int)? {
    guard input.count > 15 else { return nil }
    // SAFETY: eight bytes are there, as was just seen.
    let start = unsafe input.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
    // `HTTP/1.`, and a byte that does not count.
    guard UInt64(littleEndian: start) << 8 == 0x2E31_2F50_5454_4800, input[7].isDigit, input[8] == .space,
      input[9].isDigit, input[9] != 0x30, input[10].isDigit, input[11].isDigit
    else { return nil }
    let status = Int(input[9]) * 100 + Int(input[10]) * 10 + Int(input[11]) - 0x30 * 111
    var lineEnd = 12
    while lineEnd < input.count, input[lineEnd].isFieldText { lineEnd += 1 }
    guard let next = input.lineAfter(lineEnd), lineEnd == 12 || input[12] == .space else { return nil }
    // A tab before the phrase belongs to it, a space does not.
    var phraseStart = 12
    while phraseStart < lineEnd, input[phraseStart] == .space { phraseStart += 1 }
    var phraseEnd = lineEnd
    while phraseEnd > phraseStart, input[phraseEnd - 1].isBlank { phraseEnd -= 1 }
    return (
      StatusLine(minorVersion: input[7] == 0x30 ? 0 : 1, status: status, reason: phraseStart..<phraseEnd),
      next
    )
  }
}

/// Field lines up to and including the empty one, read by blocks of 64 bytes.
///
/// Where a line begins follows from the line ends before it alone, not from what was found in those lines, so that a
/// processor works on several at once.
private struct FieldLines {
  /// Where the empty line ends; -1 when a line before it is not whole or not plain.
  var end = -1
  /// The number of fields before it.
  var count = 0
  /// Whether there was no room for a field.
  var isFull = false

  static func read(_ input: Span<UInt8>, from start: Int, into places: inout [FieldPlaces]) -> FieldLines {
    var lines = FieldLines()
    // SAFETY: both buffers are used within the call only.
    unsafe places.withUnsafeMutableBufferPointer { room in
      unsafe input.withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress, let first = room.baseAddress else { return }
        let written = unsafe lines.read(base, bytes.count, from: start, input, first, first + room.count)
        lines.count = unsafe written - first
      }
    }
    return lines
  }

  /// Reads the lines of the `count` bytes at `base`, which are those of `input`, and writes their fields' places from
  /// `room` to before `full`; returns where it stopped writing.
  @inline(never)
  private mutating func read(
    _ base: UnsafePointer<UInt8>, _ count: Int, from start: Int, _ input: Span<UInt8>,
    _ room: UnsafeMutablePointer<FieldPlaces>, _ full: UnsafeMutablePointer<FieldPlaces>
  ) -> UnsafeMutablePointer<FieldPlaces> {
    var block = start
    var lineStart = start
    // The first byte of the line that is no letter, digit or `-`; less than 0 when it lies in a block to come.
    var nameEnd = -1
    var blocks = ByteMarks.Blocks(repeating: ByteMarks(names: 0, controls: 0))
    var known = 0
    var index = 0
    var skipsLineFeed: UInt64 = 0
    // SAFETY (all of this function): a position is used only once it is known to be in `start..<count`. A control byte
    // ends a name, so `nameEnd` is at most the line's end. What goes forward from a name's end stops at the CR that ends
    // the line, which is no token byte and no blank; what goes back from that CR stops at the colon.
    var room = unsafe room
    let last = count &- 1
    while block < count {
      if index == known {
        known = ByteMarks.fill(&blocks, input, from: block)
        index = 0
      }
      let names = unsafe blocks[unchecked: index].names
      var controls = unsafe blocks[unchecked: index].controls & ~skipsLineFeed
      index &+= 1
      skipsLineFeed = 0
      // A line that began before the block has no name's end before it; one may begin with its second byte.
      if nameEnd < 0 { nameEnd = Self.first(lineStart > block ? names & ~1 : names, block) }
      while controls != 0 {
        let bit = UInt64(truncatingIfNeeded: controls.trailingZeroBitCount)
        let lineEnd = block &+ Int(truncatingIfNeeded: bit)
        // Past the end of the input all bits are set.
        guard lineEnd < last else { return unsafe room }
        guard unsafe Self.pair(base + lineEnd) == 0x0A0D else {
          guard unsafe base[lineEnd] == .tab else { return unsafe room }
          controls &= controls &- 1
          continue
        }
        guard nameEnd > lineStart, unsafe room < full else {
          if lineEnd == lineStart { end = lineEnd &+ 2 } else { isFull = nameEnd > lineStart }
          return unsafe room
        }
        // A colon, one space and what is no blank: nearly all names end so.
        var valueStart = nameEnd &+ 2
        if unsafe Self.pair(base + nameEnd) != 0x203A || base[valueStart] <= 0x20 {
          while unsafe base[nameEnd] != .colon {
            // Other bytes of a token are rare.
            guard unsafe base[nameEnd].isToken else { return unsafe room }
            nameEnd &+= 1
          }
          valueStart = nameEnd &+ 1
          while unsafe base[valueStart].isBlank { valueStart &+= 1 }
        }
        var valueEnd = lineEnd
        // No control byte but the tab lies in the line.
        while unsafe base[valueEnd &- 1] <= 0x20 { valueEnd &-= 1 }
        unsafe room.pointee = FieldPlaces(
          lineStart, nameEnd, valueStart, max(valueStart, valueEnd), inputOffset: valueStart)
        unsafe room += 1
        lineStart = lineEnd &+ 2
        // What follows the LF, which may be in the next block.
        let rest = (~0 &<< bit) &<< 2 as UInt64
        controls &= rest
        skipsLineFeed = bit == 63 ? 1 : 0
        nameEnd = Self.first(names & rest, block)
      }
      block &+= 64
    }
    return unsafe room
  }

  /// The two bytes at `place`, the first one the lower.
  @inline(__always)
  private static func pair(_ place: UnsafePointer<UInt8>) -> UInt16 {
    // SAFETY: the caller knows that both are there, and any two are a number.
    UInt16(littleEndian: unsafe UnsafeRawPointer(place).loadUnaligned(as: UInt16.self))
  }

  /// The position of the first bit of marks that begin at `block`; -1 when there is none.
  @inline(__always)
  private static func first(_ marks: UInt64, _ block: Int) -> Int {
    marks == 0 ? -1 : block &+ marks.trailingZeroBitCount
  }
}

extension Span where Element == UInt8 {
  /// The position after the CRLF at `position`; nil when there is none.
  fileprivate func lineAfter(_ position: Int) -> Int? {
    guard position + 1 < count, self[position] == .carriageReturn, self[position + 1] == .lineFeed else {
      return nil
    }
    return position + 2
  }
}
