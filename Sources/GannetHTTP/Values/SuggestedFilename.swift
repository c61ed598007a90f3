/// A name under which a response can be saved, as Cocoa's `suggestedFilename` gives one: always a safe name of a
/// file in one directory, never a path.
public enum SuggestedFilename {
  /// Bytes of the longest name: what Linux file systems take.
  public static let byteLimit = 255

  /// Chooses the name: of `Content-Disposition`, else of the last segment of the URL's path, else the host, else
  /// `unknown`. One that is not the server's own gets the extension of the media type when it has none.
  ///
  /// - Parameters:
  ///   - disposition: the value of `Content-Disposition`, if any.
  ///   - path: the URL's path, percent-encoded.
  ///   - host: the URL's host.
  ///   - mediaType: type and subtype in lower case, if known.
  public static func choose(
    disposition: String?, path: String, host: String, mediaType: String?
  ) -> String {
    if let given = disposition.flatMap({ ContentDisposition($0).filename }) {
      let name = made(safe: lastSegment(given))
      if !name.isEmpty { return name }
    }
    let name = made(safe: lastSegmentDecoded(path))
    if !name.isEmpty { return extensionOf(name) == nil ? withExtension(name, of: mediaType) : name }
    let hostName = made(safe: host)
    return withExtension(hostName.isEmpty ? "unknown" : hostName, of: mediaType)
  }

  /// The part after the last `/` or `\`: a server's name may not choose a directory.
  private static func lastSegment(_ text: String) -> String {
    let scalars = text.unicodeScalars
    let start = scalars.lastIndex { $0 == "/" || $0 == "\\" }.map { scalars.index(after: $0) }
    return String(scalars[(start ?? scalars.startIndex)...])
  }

  /// The last segment of `path`, its percent escapes decoded when they are UTF-8.
  private static func lastSegmentDecoded(_ path: String) -> String {
    let start = path.utf8.lastIndex(of: 0x2F).map { path.utf8.index(after: $0) } ?? path.startIndex
    let bytes = Array(path[start...].utf8)
    var decoded: [UInt8] = []
    var position = 0
    while position < bytes.count {
      if bytes[position] == 0x25, let byte = ContentDisposition.escapedByte(bytes, at: position) {
        decoded.append(byte)
        position += 3
      } else {
        decoded.append(bytes[position])
        position += 1
      }
    }
    return String(validatingUTF8: decoded.span) ?? String(path[start...])
  }

  /// `text` as a name of a file: without control and format characters, `_` for what separates paths or means
  /// something to a shell or another system, no dots or blanks at its start, none at its end, and not too long. Nor has it
  /// a combining mark at its start, which would make one character of itself and the `/` or the dot before it.
  private static func made(safe text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: continue
      default: scalars.append("/\\:*?\"<>|~".unicodeScalars.contains(scalar) ? "_" : scalar)
      }
    }
    var name = scalars[...]
    while let first = name.first, isDotOrBlank(first) || isMark(first) { name.removeFirst() }
    while let last = name.last, isDotOrBlank(last) { name.removeLast() }
    return shortened(String(name), to: byteLimit)
  }

  private static func isDotOrBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "." || scalar.properties.isWhitespace
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// `name` cut to `limit` bytes, its extension kept when that is short.
  private static func shortened(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    var ending = extensionOf(name).map { "." + $0 } ?? ""
    if ending.utf8.count > 32 { ending = "" }
    // By scalars: one character may have any number of marks, and nothing would be left before the extension's dot.
    var stem = String.UnicodeScalarView()
    var bytes = ending.utf8.count
    for scalar in name.unicodeScalars.dropLast(ending.unicodeScalars.count) {
      bytes += UTF8.width(scalar)
      if bytes > limit { break }
      stem.append(scalar)
    }
    return String(stem) + ending
  }

  private static func extensionOf(_ name: String) -> Substring? {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
    let ending = name[name.index(after: dot)...]
    return ending.isEmpty ? nil : ending
  }

  private static func withExtension(_ name: String, of mediaType: String?) -> String {
    guard let ending = mediaType.flatMap({ FileTypes.fileExtension(of: $0) }) else { return name }
    return shortened(name, to: byteLimit - ending.utf8.count - 1) + "." + ending
  }
}
