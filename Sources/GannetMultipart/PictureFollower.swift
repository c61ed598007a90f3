import GannetHTTP

/// Follows the marker structure of a JPEG picture (ITU-T T.81 annex B) through the data of a part, to know its own end.
///
/// Segments are skipped by their length, and with them the thumbnails that they hold; in entropy-coded data only
/// markers count. Nothing is decoded: a picture has ended with the end-of-image marker that its structure leads to.
struct PictureFollower: Sendable {
  enum State: Hashable, Sendable {
    /// So many of the first three bytes, `FF D8 FF`, have come.
    case opening(Int)
    /// Before a marker: `FF` is due.
    case marker
    /// After `FF`: the marker's code is due, or another `FF`.
    case code
    /// The two bytes of a segment's length are due.
    case length(beginsScan: Bool)
    /// Its second byte is due; the first is given.
    case lengthEnd(first: UInt8, beginsScan: Bool)
    /// So many bytes of a segment are to come.
    case segment(Int, beginsScan: Bool)
    /// In entropy-coded data.
    case scan
    /// After an `FF` of entropy-coded data.
    case scanPrefix
    case ended
    /// A picture whose structure does not parse.
    case broken
    /// No picture, or one that is not followed.
    case none
  }

  private(set) var state: State
  /// Whether the part's type says that it is a JPEG picture.
  private let isDeclared: Bool

  /// Follows what may be a picture: anything that begins with `FF D8 FF`, whatever its type says.
  init(of fields: FieldList) {
    isDeclared = Self.declaresPicture(fields)
    state = .opening(0)
  }

  var hasEnded: Bool { state == .ended }

  /// Whether this is a picture whose end its structure cannot tell.
  var isBroken: Bool { state == .broken }

  /// Gives up following: bytes were left out.
  mutating func lose() {
    switch state {
    case .opening, .none: state = isDeclared ? .broken : .none
    case .marker, .code, .length, .lengthEnd, .segment, .scan, .scanPrefix, .broken: state = .broken
    case .ended: break
    }
  }

  /// Takes the next bytes of the part.
  /// - Returns: the place after the picture's end when that is among them.
  /// - Complexity: linear; entropy-coded data at the speed of ``firstMarker(in:from:)``.
  mutating func follow(_ data: Span<UInt8>) -> Int? {
    var place = 0
    while place < data.count {
      switch state {
      case .segment(let missing, let beginsScan):
        let skipped = min(missing, data.count - place)
        place += skipped
        state = skipped < missing ? .segment(missing - skipped, beginsScan: beginsScan) : after(beginsScan)
      case .scan:
        guard let found = firstMarker(in: data, from: place) else {
          if data[data.count - 1] == 0xFF { state = .scanPrefix }
          return nil
        }
        place = found + 1
        state = .scanPrefix
      case .opening, .marker, .code, .length, .lengthEnd, .scanPrefix:
        take(data[place])
        place += 1
        if state == .ended { return place }
      case .ended, .broken, .none: return nil
      }
    }
    return nil
  }

  private func after(_ beginsScan: Bool) -> State { beginsScan ? .scan : .marker }

  private mutating func take(_ byte: UInt8) {
    switch (state, byte) {
    case (.opening(0), 0xFF): state = .opening(1)
    case (.opening(1), 0xD8): state = .opening(2)
    case (.opening(2), 0xFF): state = .code
    case (.opening, _): state = isDeclared ? .broken : .none
    case (.marker, 0xFF): state = .code
    case (.code, 0xFF), (.scanPrefix, 0xFF): break
    case (.scanPrefix, 0x00), (.scanPrefix, 0xD0...0xD7): state = .scan
    case (.code, 0xD9), (.scanPrefix, 0xD9): state = .ended
    // TEM stands alone. So do RST0…RST7, but only within a scan; SOI comes first only; below C0 nothing is defined.
    case (.code, 0x01), (.scanPrefix, 0x01): state = .marker
    case (.code, 0...0xBF), (.code, 0xD0...0xD8), (.scanPrefix, 0...0xBF), (.scanPrefix, 0xD8):
      state = .broken
    case (.code, _), (.scanPrefix, _): state = .length(beginsScan: byte == 0xDA)
    case (.length(let beginsScan), _): state = .lengthEnd(first: byte, beginsScan: beginsScan)
    case (.lengthEnd(let first, let beginsScan), _):
      let length = Int(first) << 8 | Int(byte)
      switch length {
      case ..<2: state = .broken
      case 2: state = after(beginsScan)
      default: state = .segment(length - 2, beginsScan: beginsScan)
      }
    case (.marker, _): state = .broken
    case (.segment, _), (.scan, _), (.ended, _), (.broken, _), (.none, _): break
    }
  }

  /// Whether the type is that of JPEG pictures, in one of the spellings that cameras use.
  private static func declaresPicture(_ fields: FieldList) -> Bool {
    guard let index = fields.firstIndex(named: "Content-Type") else { return false }
    return fields.withValueBytes(at: index) { value in
      ["image/jpeg", "image/jpg", "image/pjpeg"].contains { type in
        guard value.count >= type.utf8.count,
          value.extracting(first: type.utf8.count).equalsIgnoringCase(type)
        else { return false }
        return value.count == type.utf8.count || !value[type.utf8.count].isToken
      }
    }
  }
}
