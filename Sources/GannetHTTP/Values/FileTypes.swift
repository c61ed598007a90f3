/// The media types of files, by the extension of their names: what a file that is read as a URL is said to be, and how one
/// that is saved is named.
public enum FileTypes {
  /// The media type of a file of this name (its last segment is enough); `application/octet-stream` when its extension
  /// is not known. Case does not matter.
  public static func mediaType(ofFileNamed name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return unknown }
    return types[name[name.utf8.index(after: dot)...].lowercased()] ?? unknown
  }

  /// The usual extension of a media type, in lower case; nil when it is not known.
  public static func fileExtension(of mediaType: String) -> String? { extensions[mediaType] }

  private static let unknown = "application/octet-stream"

  private static let types: [String: String] = {
    var types: [String: String] = [:]
    for (type, name) in extensions where !secondaryTypes.contains(type) { types[name] = type }
    return types.merging(otherExtensions) { $1 }
  }()

  /// The usual extension of the media types that are saved most.
  private static let extensions: [String: String] = [
    "application/gzip": "gz", "application/json": "json", "application/pdf": "pdf", "application/rtf": "rtf",
    "application/wasm": "wasm", "application/x-7z-compressed": "7z", "application/x-bzip2": "bz2",
    "application/x-gzip": "gz", "application/x-sh": "sh", "application/x-tar": "tar",
    "application/x-xz": "xz",
    "application/xhtml+xml": "xhtml", "application/xml": "xml", "application/zip": "zip",
    "application/zstd": "zst", "audio/aac": "aac", "audio/flac": "flac", "audio/mpeg": "mp3",
    "audio/ogg": "ogg", "audio/wav": "wav", "audio/x-wav": "wav", "font/otf": "otf", "font/ttf": "ttf",
    "font/woff": "woff", "font/woff2": "woff2", "image/avif": "avif", "image/bmp": "bmp", "image/gif": "gif",
    "image/jpeg": "jpg", "image/jpg": "jpg", "image/png": "png", "image/svg+xml": "svg", "image/tiff": "tiff",
    "image/webp": "webp", "image/x-icon": "ico", "text/calendar": "ics", "text/css": "css", "text/csv": "csv",
    "text/html": "html", "text/javascript": "js", "text/markdown": "md", "text/plain": "txt",
    "text/vcard": "vcf", "text/xml": "xml", "video/mp4": "mp4", "video/mpeg": "mpeg", "video/ogg": "ogv",
    "video/quicktime": "mov", "video/webm": "webm", "video/x-h264": "h264",
  ]

  /// Other names of types above, which no file is said to be.
  private static let secondaryTypes: Set<String> = [
    "application/x-gzip", "audio/x-wav", "image/jpg", "text/xml",
  ]

  /// Extensions that are not the usual ones of their types.
  private static let otherExtensions: [String: String] = [
    "conf": "text/plain", "htm": "text/html", "jpeg": "image/jpeg", "log": "text/plain", "m4a": "audio/mp4",
    "m4v": "video/mp4", "mjs": "text/javascript", "mpg": "video/mpeg", "oga": "audio/ogg",
    "text": "text/plain",
    "tif": "image/tiff", "xht": "application/xhtml+xml", "yaml": "application/yaml",
    "yml": "application/yaml",
  ]
}
