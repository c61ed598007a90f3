import Gannet
import GannetSockets

/// Where a load's body goes: standard output or a file, and with `--parts` a file for each part. Files are kept when
/// the load fails, as in curl.
final class BodyOutput {
  /// Where the whole body goes.
  enum Target: Equatable {
    /// Nowhere: only events are shown.
    case none
    /// `isAsked`: by `-o -`, so that a terminal gets whatever comes.
    case standardOutput(isAsked: Bool)
    case file(String)
  }

  private let target: Target
  private let parts: PartFiles?
  private var file: OutputFile?
  /// While the body goes to a terminal.
  private var terminalGuard: TerminalGuard?

  /// - Parameters:
  ///   - target: where the whole body goes. Parts that go to files go to standard output no more.
  ///   - parts: where the parts go.
  init(_ target: Target, parts place: PartFiles.Place?) {
    self.target = target
    parts = place.map { PartFiles($0) }
    if target == .standardOutput(isAsked: false), OutputFile.standardOutput.isTerminal {
      terminalGuard = TerminalGuard()
    }
  }

  /// Whether parts were to be saved and there was none.
  var lacksParts: Bool { parts?.count == 0 }
  /// The file of a part that was begun and is not known to be whole.
  var unfinishedPart: String? { parts?.unfinished }

  /// Whether the body goes to a terminal.
  var isTerminal: Bool {
    guard case .standardOutput = target else { return false }
    return parts == nil && OutputFile.standardOutput.isTerminal
  }

  /// A response begins: the file is made, also for a body that stays empty.
  func begin(_ response: URLResponse) throws(ToolError) {
    if (response as? HTTPURLResponse)?.partIndex != nil { try parts?.begin(mimeType: response.mimeType) }
    if case .file(let path) = target, file == nil { file = try OutputFile(making: path) }
  }

  /// A part is complete.
  func finishPart() throws(ToolError) { try parts?.finish() }

  /// A head, before the body and where that goes; parts that go to files have none.
  func writeHead(_ bytes: Span<UInt8>) throws(ToolError) {
    switch target {
    case .none: break
    case .file(let path): try write(bytes, to: path)
    case .standardOutput: try writeOut(bytes)
    }
  }

  private func write(_ bytes: Span<UInt8>, to path: String) throws(ToolError) {
    if file == nil { file = try OutputFile(making: path) }
    try ToolError.writing(path) { () throws(SystemError) in try file?.write(bytes) }
  }

  private func writeOut(_ bytes: Span<UInt8>) throws(ToolError) {
    try ToolError.writing("standard output") { () throws(SystemError) in
      try OutputFile.standardOutput.write(bytes)
    }
  }

  /// More of the body, or the head in its place.
  func write(_ bytes: Span<UInt8>) throws(ToolError) {
    try parts?.write(bytes)
    switch target {
    case .none: break
    case .file(let path): try write(bytes, to: path)
    case .standardOutput:
      guard parts?.isOpen != true else { return }
      guard terminalGuard?.refuses(bytes) != true else {
        throw ToolError(
          .cannotWrite, "the body is binary and is not shown on a terminal; -o FILE saves it, -o - shows it")
      }
      try writeOut(bytes)
    }
  }
}

/// The files of a stream's parts. What is not known to be whole has `.part` at the end of its name.
final class PartFiles {
  /// Where they go.
  enum Place: Hashable {
    /// Each as a file of this folder.
    case folder(String)
    /// Each to this file, in place of the one before.
    case file(String)
  }

  private let place: Place
  private var file: OutputFile?
  private var name = ""
  private var isWhole = false

  /// How many parts began.
  private(set) var count = 0

  /// A folder is made with the first part.
  init(_ place: Place) { self.place = place }

  /// Whether a part was begun.
  var isOpen: Bool { file != nil }

  /// The file that is being written, or was when the stream ended.
  var unfinished: String? { isOpen && !isWhole ? name + ".part" : nil }

  func begin(mimeType: String?) throws(ToolError) {
    count += 1
    switch place {
    case .file(let path): name = path
    case .folder(let folder):
      if count == 1 {
        try ToolError.writing(folder) { () throws(SystemError) in try InputFile.makeFolder(folder) }
      }
      let digits = String(count)
      let number = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
      name = "\(folder)/part-\(number).\(FileExtension.of(mimeType: mimeType))"
    }
    file = try OutputFile(making: name + ".part")
    isWhole = false
  }

  /// More of the part, also of one that is known to be complete: some cameras send bytes after their pictures.
  func write(_ bytes: Span<UInt8>) throws(ToolError) {
    guard let file else { return }
    try ToolError.writing(unfinished ?? name) { () throws(SystemError) in try file.write(bytes) }
  }

  func finish() throws(ToolError) {
    guard isOpen, !isWhole else { return }
    try ToolError.writing(name) { () throws(SystemError) in
      try OutputFile.rename(name + ".part", to: name)
    }
    isWhole = true
  }
}

extension OutputFile {
  /// Creates the file, or empties the one that is there.
  fileprivate convenience init(making path: String) throws(ToolError) {
    do throws(SystemError) { try self.init(creating: path) } catch {
      throw ToolError(.cannotWrite, "\(path): \(error.words)")
    }
  }
}

/// The extension of a file's name by media type.
enum FileExtension {
  private static let known = [
    "image/jpeg": "jpg", "image/jpg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp",
    "image/svg+xml": "svg", "text/plain": "txt", "text/html": "html", "text/xml": "xml", "text/css": "css",
    "application/json": "json", "application/xml": "xml", "application/pdf": "pdf", "video/mp4": "mp4",
    "audio/mpeg": "mp3",
  ]

  /// `bin` for a type that is not known.
  static func of(mimeType: String?) -> String { mimeType.flatMap { known[$0] } ?? "bin" }
}
