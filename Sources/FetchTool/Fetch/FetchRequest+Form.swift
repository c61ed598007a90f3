package import Gannet
import GannetHTTP
import GannetSockets

extension FetchOptions {
  /// The form that the `-F` flags make of one without parts. Its files must be there. As in curl, what has a file name has
  /// the type that goes with the name, unless it is given.
  package func form(_ empty: MultipartForm = MultipartForm()) throws(ToolError) -> MultipartForm {
    var form = empty
    for part in formParts {
      let type = part.type ?? part.filename.flatMap(FetchOptions.type)
      switch part.content {
      case .text(let text):
        form.append(.data(Data(text.utf8)), named: part.name, filename: part.filename, contentType: type)
      case .contents(let path):
        form.append(
          try FetchOptions.content(of: path), named: part.name, filename: part.filename, contentType: type)
      case .file(let path):
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap(String.init) ?? path
        form.append(
          try FetchOptions.content(of: path), named: part.name, filename: part.filename ?? last,
          contentType: type ?? FetchOptions.type(ofFileNamed: last) ?? FetchOptions.unknownType)
      }
    }
    return form
  }

  private static let unknownType = "application/octet-stream"

  /// The type that goes with a file's name; nil where the name says none.
  private static func type(ofFileNamed name: String) -> String? {
    let type = FileTypes.mediaType(ofFileNamed: name)
    return type == FetchOptions.unknownType ? nil : type
  }

  private static func content(of path: String) throws(ToolError) -> URLRequest.Body {
    if path == "-" { return .stream(InputPieces()) }
    _ = try ToolError.reading(path) { () throws(SystemError) in try RegularFile(path: path) }
    return .file(path)
  }
}
