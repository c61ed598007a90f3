import FoundationEssentials
import GannetHTTP
import GannetSockets

/// What a load asks besides when it is a download's (`Configuration.isDownload`).
protocol DownloadLoadDelegate: URLConnectionDataDelegate {
  /// The load begins.
  func connectionDidBegin(_ connection: URLConnection)
  /// Whether the codings of the body of this response, which can be undone, are.
  func connection(_ connection: URLConnection, shouldDecode response: HTTPURLResponse) -> Bool
}

/// Carries out a download: puts what its load delivers into a file, and tells the delegate. On the load's host, which
/// keeps it as long as the load lives.
final class DownloadDriver: DownloadLoadDelegate, StandInDelegate {
  /// The download, from its start on.
  var download: URLDownload?
  private let delegate: (any URLDownloadDelegate)?

  init(_ delegate: (any URLDownloadDelegate)?) { self.delegate = delegate }

  var other: AnyObject? { delegate }

  var allowsCalls: Bool {
    let value: Any? = delegate
    return delegate == nil || value is any URLDownloadDelegate
  }

  func connectionDidBegin(_ connection: URLConnection) {
    if let download { delegate?.downloadDidBegin(download) }
  }

  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    guard let delegate, let download else { return request }
    return delegate.download(download, willSend: request, redirectResponse: redirectResponse)
  }

  // MARK: Challenges

  func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool {
    guard let delegate, let download else { return true }
    return delegate.downloadShouldUseCredentialStorage(download)
  }

  func connection(
    _ connection: URLConnection, canAuthenticateAgainst protectionSpace: URLProtectionSpace
  ) -> Bool {
    guard let delegate, let download else { return false }
    return delegate.download(download, canAuthenticateAgainst: protectionSpace)
  }

  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    guard let delegate, let download else {
      challenge.sender?.continueWithoutCredential(for: challenge)
      return
    }
    delegate.download(download, didReceive: challenge)
  }

  func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge) {
    if let download { delegate?.download(download, didCancel: challenge) }
  }

  // MARK: The body

  func connection(_ connection: URLConnection, shouldDecode response: HTTPURLResponse) -> Bool {
    guard let delegate, let download else { return true }
    return response.fields.values(for: "Content-Encoding").flatMap { $0.split(separator: ",") }.allSatisfy {
      let coding = $0.filter { $0 != " " && $0 != "\t" }.lowercased()
      let type = ["gzip": "x-gzip", "deflate": "x-deflate"][coding] ?? coding
      return delegate.download(download, shouldDecodeSourceDataOfMIMEType: "application/\(type)")
    }
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    guard let download else { return }
    delegate?.download(download, didReceive: response)
    guard !download.isCancelled else { return }
    if download.state.withLock({ $0.destination == nil }) {
      delegate?.download(
        download, decideDestinationWithSuggestedFilename: response.suggestedFilename ?? "Unknown")
      guard !download.isCancelled else { return }
    }
    do throws(ConnectionError) {
      let file = try download.createFile(for: connection.originalRequest)
      // A cancel by another thread may have come meanwhile.
      if let file { delegate?.download(download, didCreateDestination: file.path) }
    } catch { fail(connection, error) }
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    guard let download, let file = download.state.withLock({ $0.file }) else { return }
    do throws(SystemError) { try file.write(data.span) } catch {
      return fail(connection, ConnectionError(writing: file.path, error, for: connection.originalRequest))
    }
    delegate?.download(download, didReceiveDataOfLength: data.count)
  }

  // MARK: The end

  func connectionDidFinishLoading(_ connection: URLConnection) {
    guard let download, let file = download.takeFile() else { return }
    do throws(SystemError) { try file.finish() } catch {
      let error = ConnectionError(writing: file.path, error, for: connection.originalRequest)
      delegate?.download(download, didFailWithError: error)
      return
    }
    delegate?.downloadDidFinish(download)
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    guard let download else { return }
    let file = download.takeFile()
    // A file that cannot be given its place is removed; the download has failed anyhow.
    if download.deletesFileUponFailure { file?.discard() } else { try? file?.finish() }
    delegate?.download(download, didFailWithError: error)
  }

  /// Ends the load for a reason of the file's.
  private func fail(_ connection: URLConnection, _ error: ConnectionError) {
    connection.cancel()
    self.connection(connection, didFailWithError: error)
  }
}

extension URLDownload {
  fileprivate var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// The file, whose fate is its taker's; nil when it was cancelled.
  fileprivate func takeFile() -> NewFile? {
    state.withLock { state in
      defer { state.file = nil }
      return state.file
    }
  }

  /// Creates the file where it was said to be; nil when the download was cancelled meanwhile.
  fileprivate func createFile(for request: URLRequest) throws(ConnectionError) -> NewFile? {
    let destination = state.withLock { $0.destination }
    let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
    let file: NewFile
    do throws(SystemError) {
      file =
        switch destination {
        case (let path, true)?: try NewFile(at: path)
        case (let path, false)?: try NewFile(besidesOthers: path)
        case nil: try NewFile(inFolder: folder)
        }
    } catch {
      throw ConnectionError(
        creating: destination?.path ?? "in \(folder)", error, in: .receiving, for: request)
    }
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.file = file }
      return state.isCancelled
    }
    return isCancelled ? nil : file
  }
}
