public import Foundation
public import Gannet

extension URLRequest.Body {
  /// The bytes of a stream, which is opened when the body is first sent, read in pieces of 64 KiB as the socket takes them,
  /// and closed at its end, at an error, and when no more of it is wanted.
  ///
  /// It is read on a thread of its own, so it may block; what is set on it (a delegate, a run loop) is not used. It can
  /// be read once: a load that has to send it again asks the delegate for another (`needNewBodyStream`), else fails
  /// with `requestBodyStreamExhausted`. An error of the stream's fails the load with that code, and is its cause.
  ///
  /// - Parameters:
  ///   - stream: the bytes. Nobody else may read it.
  ///   - length: how many bytes it has; nil when that is not known: the request's field `Content-Length` counts then, and
  ///     without one the body is sent in chunks.
  public static func inputStream(_ stream: InputStream, length: Int64? = nil) -> URLRequest.Body {
    let reader = InputStreamReader(stream)
    return .stream(InputStreamPieces(reader: reader), length: length, origin: reader)
  }
}

extension URLRequest {
  /// The stream whose bytes are the body, as in Cocoa: nil where the body is none. Setting it sets `body` to
  /// `Body.inputStream(_:length:)`.
  public var httpBodyStream: InputStream? {
    get { (body?.origin as? InputStreamReader)?.stream }
    set { body = newValue.map { .inputStream($0) } }
  }
}

/// A delegate that answers `needNewBodyStream` with an `InputStream`, as Cocoa's does.
public protocol URLConnectionInputStreamDelegate: URLConnectionDataDelegate {
  /// The request's body is a stream, has been sent before, at least in part, and has to be sent again. Return a stream
  /// that has not been opened, or nil to fail the load with `requestBodyStreamExhausted`.
  func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> InputStream?
}

extension URLConnectionInputStreamDelegate {
  /// What the engine calls: the other method's stream.
  public func connection(
    _ connection: URLConnection, needNewBodyStream request: URLRequest
  ) -> URLRequest.Body? {
    let stream: InputStream? = self.connection(connection, needNewBodyStream: request)
    return stream.map { .inputStream($0) }
  }
}

/// Reads a stream on a queue of its own.
// UNCHECKED: the stream is touched in the serial queue's turns alone; that nobody else reads it is its owner's promise.
package final class InputStreamReader: @unchecked Sendable {
  let stream: InputStream
  private let queue = DispatchQueue(label: "gannet input stream")
  private static let pieceBytes = 64 * 1024
  /// Read into for each piece, which is a copy: so what waits to be sent takes no more memory than it has bytes, though a
  /// stream gives few at a time.
  private var buffer: [UInt8] = []

  package init(_ stream: InputStream) { self.stream = stream }

  /// The next piece; nil at the stream's end.
  package func read() async throws -> Data? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.readNow() }) }
    }
  }

  /// No more of it is wanted.
  func close() {
    queue.async {
      self.stream.close()
      self.buffer = []
    }
  }

  private func readNow() throws -> Data? {
    if stream.streamStatus == .notOpen { stream.open() }
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: InputStreamReader.pieceBytes) }
    // SAFETY: the stream writes at most the memory's length, within this closure, and says how much of it that was.
    let count = unsafe buffer.withUnsafeMutableBufferPointer { space -> Int in
      guard let start = space.baseAddress else { return 0 }
      return unsafe stream.read(start, maxLength: space.count)
    }
    guard count >= 0, stream.streamStatus != .error else { throw stream.streamError ?? Unreadable() }
    return count == 0 ? nil : Data(buffer.prefix(count))
  }

  /// A stream that does not say why it cannot be read.
  private struct Unreadable: Error, CustomStringConvertible {
    var description: String { "the stream cannot be read" }
  }
}

/// The pieces of a stream, once.
private struct InputStreamPieces: AsyncSequence, Sendable {
  typealias Element = Data
  let reader: InputStreamReader

  func makeAsyncIterator() -> Iterator { Iterator(reader) }

  /// Closes the stream when it is let go.
  final class Iterator: AsyncIteratorProtocol {
    private let reader: InputStreamReader
    init(_ reader: InputStreamReader) { self.reader = reader }
    deinit { reader.close() }
    func next() async throws -> Data? { try await reader.read() }
  }
}
