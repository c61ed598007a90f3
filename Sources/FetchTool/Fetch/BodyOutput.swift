import Gannet
import GannetSockets

/// Where a load's body goes: standard output or a file, and with `--parts` a file for each part. Files are kept when
/// the load fails, as in curl.
final class BodyOutput {
  /// Where the whole body goes.
  enum Target: Equatable {
    /// Nowhere: only events are shown.
    case none
    case standardOutput
    case file(String)
  }

  private let target: Target
  private let partsFolder: String?
  private var file: OutputFile?
  private var partFile: OutputFile?

  /// How many parts began.
  private(set) var partCount = 0

  /// - Parameters:
  ///   - target: where the whole body goes. Parts that go to files go to standard output no more.
  ///   - partsFolder: where the parts go, each as a file.
  init(_ target: Target, partsFolder: String?) {
    self.target = target
    self.partsFolder = partsFolder
  }

  /// Whether parts were to be saved and there was none.
  var lacksParts: Bool { partsFolder != nil && partCount == 0 }

  /// Whether the body goes to a terminal.
  var isTerminal: Bool {
    target == .standardOutput && partsFolder == nil && OutputFile.standardOutput.isTerminal
  }

  /// A response begins: the file is made, also for a body that stays empty.
  func begin(_ response: HTTPURLResponse) throws(ToolError) {
    partFile = nil
    if let partsFolder, response.partIndex != nil {
      partCount += 1
      let digits = String(partCount)
      let number = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
      partFile = try create("\(partsFolder)/part-\(number).\(FileExtension.of(mimeType: response.mimeType))")
    }
    if case .file(let path) = target, file == nil { file = try create(path) }
  }

  /// More of the body, or the head in its place.
  func write(_ bytes: Span<UInt8>) throws(ToolError) {
    if let partFile {
      try ToolError.writing(partsFolder ?? "") { () throws(SystemError) in try partFile.write(bytes) }
    }
    switch target {
    case .none: break
    case .file(let path):
      if file == nil { file = try create(path) }
      try ToolError.writing(path) { () throws(SystemError) in try file?.write(bytes) }
    case .standardOutput:
      guard partFile == nil else { return }
      try ToolError.writing("standard output") { () throws(SystemError) in
        try OutputFile.standardOutput.write(bytes)
      }
    }
  }

  private func create(_ path: String) throws(ToolError) -> OutputFile {
    try ToolError.writing(path) { () throws(SystemError) in try OutputFile(creating: path) }
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
