/// JPEG pictures with the marker structure of real ones (ITU-T T.81 annex B), and no more: what lies in their segments
/// and scans means nothing.
enum Pictures {
  static let start = "\u{FF}\u{D8}"
  static let end = "\u{FF}\u{D9}"

  /// A marker with a segment of this content.
  static func segment(_ code: Unicode.Scalar, _ content: String) -> String {
    let length = content.unicodeScalars.count + 2
    let high = Character(Unicode.Scalar(UInt8(length >> 8)))
    return "\u{FF}\(Character(code))\(high)\(Character(Unicode.Scalar(UInt8(length & 0xFF))))\(content)"
  }

  /// The header of a scan and its entropy-coded data.
  static func scan(_ data: String) -> String { segment("\u{DA}", "\u{1}\u{1}\0\0?\0") + data }

  /// What a camera sends: tables, a frame, one scan with a stuffed byte and restart markers.
  static let plain =
    start + segment("\u{E0}", "JFIF\0\u{1}\u{1}") + segment("\u{DB}", "tables") + segment("\u{C0}", "frame")
    + segment("\u{C4}", "tables") + segment("\u{DD}", "\0\u{4}")
    + scan("ab\u{FF}\0cd\u{FF}\u{D0}ef\n-\r\n\u{FF}\u{D7}\u{FF}\0") + end

  /// Its thumbnail is a picture of its own.
  static let withThumbnail =
    start + segment("\u{E1}", "Exif\0\0\(plain)rest") + segment("\u{C0}", "frame") + scan("main") + end

  /// Several scans, tables between them, a number of lines (DNL), fill bytes before markers, a marker alone (TEM).
  static let progressive =
    start + segment("\u{C2}", "frame") + scan("one") + segment("\u{DC}", "\0\u{8}") + "\u{FF}"
    + segment("\u{C4}", "t") + scan("two\u{FF}\u{FF}\0") + "\u{FF}\u{1}" + "\u{FF}\u{FF}"
    + scan("\u{FF}\u{FF}\u{D3}x\u{FF}") + end

  /// Markers alone (TEM) between the segments.
  static let withTEM =
    start + "\u{FF}\u{1}" + segment("\u{DB}", "tables") + "\u{FF}\u{1}" + scan("x") + end

  /// Tables only: the abbreviated format of section B.5.
  static let tables = start + segment("\u{DB}", "tables") + segment("\u{FE}", "") + end

  /// What begins as a picture and has no structure.
  static let broken = "\u{FF}\u{D8}pic\u{FF}\u{D9}"
}
