public import FoundationEssentials
import GannetSockets

extension URLConnection {
  /// Loads a request and puts its body into a file as it comes, whatever its status and its length: look at the
  /// response's status before the file is taken for what was asked for.
  ///
  /// Without a destination it is a file with a name of its own in the folder for temporary files (`TMPDIR`, else `/tmp`),
  /// which is the caller's to move or to remove. With one the bytes go to another name in the destination's folder
  /// (`.gannet-….part`) and the file is moved into its place when it is whole: what stood there before is there until
  /// then, and replaced in one step. A symbolic link is followed; a character device such as `/dev/null` is written to.
  /// The file's mode is 0600. After a failure, and when the task is cancelled, nothing of it is left.
  ///
  /// The body is decoded; one of parts (`multipart/x-mixed-replace`) is kept as it is, its delimiters included. Runs on
  /// the loop whose turn this is called in, else on the shared loop, and writes there: a disk that is slow holds it up.
  ///
  /// - Returns: the file, at `destination` if there is one, and the response.
  /// - Throws: `cannotCreateFile` before anything is sent (also where the destination is a folder, a pipe or a socket, or
  ///   no file URL); `cannotWriteToFile` when the disk is full, say; `cannotMoveFile`; else as `data(for:)`.
  public static func download(
    for request: URLRequest, to destination: URL? = nil, configuration: Configuration = .default
  ) async throws(ConnectionError) -> (URL, HTTPURLResponse) {
    _ = try request.target(configuration)
    let file = try newFile(at: destination, for: request)
    var configuration = configuration
    configuration.keepsPartsTogether = true
    let load = OneShotLoad<HTTPURLResponse>(request, configuration) { end in
      FileCollector(file) { outcome in end(outcome) }
    } onCancel: {
      file.discard()
    }
    let response = try await load.value
    return (destination ?? URL(filePath: file.path), response)
  }

  private static func newFile(
    at destination: URL?, for request: URLRequest
  ) throws(ConnectionError) -> NewFile {
    guard let destination else {
      let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
      do throws(SystemError) { return try NewFile(inFolder: folder) } catch {
        throw ConnectionError(creating: "in \(folder)", error, in: .preparing, for: request)
      }
    }
    let path = destination.path(percentEncoded: false)
    guard destination.isFileURL, !path.isEmpty else {
      throw ConnectionError(
        .cannotCreateFile, phase: .preparing, url: request.safeURLString,
        reason: "the destination \(destination.absoluteString) is no file")
    }
    do throws(SystemError) { return try NewFile(at: path) } catch {
      throw ConnectionError(creating: path, error, in: .preparing, for: request)
    }
  }
}
