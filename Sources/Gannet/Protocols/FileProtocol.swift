import Dispatch
import FoundationEssentials
import GannetHTTP
import GannetSockets
import Synchronization

/// Answers for `file` URLs, with regular files of this machine, read piece by piece on a queue of its own: a disk may
/// make its reader wait, and the load's host does not.
// UNCHECKED: what is read from lies in the queue alone.
final class FileProtocol: URLProtocol, @unchecked Sendable {
  private static let pieceBytes = 128 * 1024

  private let queue = DispatchQueue(label: "gannet.file")
  private let isStopped = Atomic<Bool>(false)
  // In the queue:
  private var file: RegularFile?
  private var isHeld = false
  /// Bytes still to be read; nil for a file that does not say how long it is, as those of `/proc`.
  private var missing: Int64?

  override func startLoading() {
    guard ["GET", "HEAD"].contains(request.method), request.body == nil else {
      return fail(.unsupportedURL, "a file URL is read, with GET or HEAD and without a body")
    }
    queue.async { self.open() }
  }

  override func stopLoading() { isStopped.store(true, ordering: .releasing) }

  // Called inside `didLoad`, so in the queue.
  override func pauseLoading() { isHeld = true }

  override func resumeLoading() {
    queue.async {
      self.isHeld = false
      self.readOn()
    }
  }

  private func open() {
    guard !isStopped.load(ordering: .acquiring), case .success(let address) = request.parsedAddress else {
      return
    }
    let path = address.decodedPath
    do throws(SystemError) {
      let first = try begin(path)
      client?.urlProtocol(
        self,
        didReceive: URLResponse(
          urlString: request.urlString,
          mimeType: FileTypes.mediaType(ofFileNamed: String(fieldText: path.span)),
          expectedContentLength: missing ?? -1, textEncodingName: nil))
      if request.method == "HEAD" { return end() }
      if pass(first) { readOn() }
    } catch { fail(error) }
  }

  /// Opens the file and reads its first piece, where that is wanted or tells whether there is one.
  private func begin(_ path: [UInt8]) throws(SystemError) -> [UInt8] {
    let file = try RegularFile(path: path)
    var first: [UInt8] = []
    if request.method != "HEAD" || file.byteCount == 0 {
      _ = try file.read(FileProtocol.pieceBytes, appendingTo: &first)
    }
    missing = file.byteCount == 0 && !first.isEmpty ? nil : file.byteCount
    self.file = file
    return first
  }

  /// Reads until the load has enough for now, is over, or the file is.
  private func readOn() {
    // The file is closed when the load hears of its end: nothing else here holds it.
    while file != nil, !isHeld, !isStopped.load(ordering: .acquiring) {
      var piece: [UInt8] = []
      do throws(SystemError) { _ = try file?.read(FileProtocol.pieceBytes, appendingTo: &piece) } catch {
        return fail(error)
      }
      guard pass(piece) else { return }
    }
  }

  /// Gives a piece to the load; false when it was the last.
  private func pass(_ piece: [UInt8]) -> Bool {
    // What is added to a file meanwhile does not belong to it any more: its length has been told.
    let count = missing.map { Int(min($0, Int64(piece.count))) } ?? piece.count
    if count > 0 {
      missing = missing.map { $0 - Int64(count) }
      client?.urlProtocol(self, didLoad: Data(piece.prefix(count)))
    }
    if let missing, missing > 0, piece.isEmpty {
      fail(
        .resourceUnavailable, "the file has become shorter while it was read: \(missing) bytes are missing")
      return false
    }
    guard missing == 0 || piece.isEmpty else { return true }
    end()
    return false
  }

  private func end() {
    file = nil
    client?.urlProtocolDidFinishLoading(self)
  }

  private func fail(_ error: SystemError) {
    fail(.init(opening: error), "the file cannot be read: \(error.words)", .system(errno: error.errno))
  }

  private func fail(_ code: ConnectionError.Code, _ reason: String, _ cause: ConnectionError.Cause? = nil) {
    file = nil
    client?.urlProtocol(
      self,
      didFailWithError: ConnectionError(
        code, phase: .preparing, url: request.safeURLString, cause: cause, reason: reason))
  }
}
