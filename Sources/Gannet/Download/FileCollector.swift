import FoundationEssentials
import GannetSockets

/// A delegate that puts the body into a file as it comes.
final class FileCollector: URLConnectionDataDelegate {
  /// Makes the outcome, once it is certain that it is this one: a load that was cancelled leaves no file.
  typealias Outcome = () -> Result<HTTPURLResponse, ConnectionError>

  private let file: NewFile
  private let completion: (Outcome) -> Void
  private var response: HTTPURLResponse?

  init(_ file: NewFile, _ completion: @escaping (Outcome) -> Void) {
    self.file = file
    self.completion = completion
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    self.response = .standing(for: response)
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    do throws(SystemError) { try file.write(data.span) } catch {
      connection.cancel()
      end(.failure(ConnectionError(writing: file.path, error, for: connection.currentRequest)))
    }
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    let request = connection.currentRequest
    guard let response else {
      return end(
        .failure(
          ConnectionError(
            .badServerResponse, phase: .receiving, url: request.safeURLString,
            reason: "the load ended without a response")))
    }
    completion {
      do throws(SystemError) { try file.finish() } catch {
        return .failure(ConnectionError(writing: file.path, error, for: request))
      }
      return .success(response)
    }
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    end(.failure(error))
  }

  private func end(_ outcome: Result<HTTPURLResponse, ConnectionError>) {
    file.discard()
    completion { outcome }
  }
}

extension ConnectionError {
  /// The file that a body was to be put into cannot be created: before anything was sent, or once the response is here.
  init(creating path: String, _ error: SystemError, in phase: Phase, for request: URLRequest) {
    self.init(
      .cannotCreateFile, phase: phase, url: request.safeURLString, cause: .system(errno: error.errno),
      reason: "the file \(path) cannot be created: \(error.words)")
  }

  /// The file cannot be written on, or not be given its place.
  init(writing path: String, _ error: SystemError, for request: URLRequest) {
    let isMove = error.call == "rename"
    self.init(
      isMove ? .cannotMoveFile : .cannotWriteToFile, phase: .receiving, url: request.safeURLString,
      cause: .system(errno: error.errno),
      reason: isMove
        ? "the whole file cannot be moved to \(path): \(error.words)"
        : "the file \(path) cannot be written: \(error.words)")
  }
}
