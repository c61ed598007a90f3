import GannetHTTP

/// Tells, byte by byte, whether a stream that has no delimiter before its first part begins with that part's field
/// lines or with a preamble.
struct FieldBlockShape: Sendable {
  enum Answer { case soFarFields, endOfFields, notFields }

  private enum State { case lineStart, name, blanks, value, lineFeed, lastLineFeed }

  private var state = State.lineStart

  /// Whether the next byte begins a line.
  var isAtLineStart: Bool { state == .lineStart }

  mutating func take(_ byte: UInt8) -> Answer {
    switch (state, byte) {
    case (.lineStart, .lineFeed), (.lastLineFeed, .lineFeed): return .endOfFields
    case (.lineStart, .carriageReturn): state = .lastLineFeed
    case (.name, .colon), (.blanks, .colon): state = .value
    case (.name, .space), (.name, .tab): state = .blanks
    case (.lineStart, _) where byte.isToken: state = .name
    case (.value, .lineFeed), (.lineFeed, .lineFeed): state = .lineStart
    case (.value, .carriageReturn): state = .lineFeed
    case (.value, _): break
    case (.name, _) where byte.isToken: break
    case (.blanks, _) where byte.isBlank: break
    case (.lineStart, _), (.name, _), (.blanks, _), (.lineFeed, _), (.lastLineFeed, _): return .notFields
    }
    return .soFarFields
  }
}
