public import FoundationEssentials
public import GannetHTTP
import Synchronization

extension URLRequest {
  /// What is sent as a request's body.
  ///
  /// A body may have to be sent again: after a challenge, a redirect that keeps it (307, 308), a connection that was
  /// found dead, an expectation that was refused (417). Data and files are sent again as they are. A stream is made
  /// anew by its `make`, and the delegate is asked first (`needNewBodyStream`).
  ///
  /// Two bodies are equal when their data or paths are, or when they are copies of one stream; of a form, its parts.
  public struct Body: Sendable, Hashable {
    enum Source: Sendable, Hashable {
      case data(Data)
      case file(String)
      case stream(BodyStream)
      case form(MultipartForm)
    }

    let source: Source

    /// These bytes.
    public static func data(_ data: Data) -> Body { Body(source: .data(data)) }

    /// The contents of a regular file, opened each time the body is sent and as long as it is then.
    ///
    /// It is read piece by piece on the load's loop, as the socket takes it. A file that cannot be opened fails the load
    /// with `fileDoesNotExist`, `fileIsDirectory`, `noPermissionsToReadFile` or `cannotOpenFile` before anything is sent;
    /// one that gets shorter on the way with `requestBodyStreamExhausted`. What is added to it on the way is not sent.
    public static func file(_ path: String) -> Body { Body(source: .file(path)) }

    /// The pieces of an asynchronous sequence, in order.
    ///
    /// `make` is called each time the body is sent, and its sequence is iterated in a task of its own. The task runs on
    /// the load's loop wherever the sequence does not run elsewhere by itself (on an actor of its own), so, as in a
    /// delegate, what takes long does not belong there. It is pulled only while fewer than 256 KiB wait for the socket; the task is cancelled when the load
    /// has ended or needs no more of it. An error of the sequence, fewer bytes than `length` or more fail the load with
    /// `requestBodyStreamExhausted`, and the server does not get a body that looks complete: the last piece is sent
    /// when the sequence has ended.
    ///
    /// - Parameters:
    ///   - length: how many bytes the pieces have together, at least 0; nil when that is not known: they are then sent in
    ///     chunks (RFC 9112 section 7.1), which HTTP/1.0 does not have.
    ///   - trailers: fields to send after the last piece, which are checked before anything is sent. With any, the body
    ///     is sent in chunks, and the field `Trailer` names them unless the request has one.
    ///   - make: gives a fresh sequence, from the first byte on.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
      length: Int64? = nil, trailers: FieldList = FieldList(), make: @escaping @Sendable () -> Pieces
    ) -> Body where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
      Body(
        source: .stream(
          BodyStream(length: length, trailers: trailers) { take in
            for try await piece in make() { guard await take(piece) else { return } }
          }))
    }

    /// The pieces of an asynchronous sequence that can be iterated but once, such as an `AsyncStream` or the chunks of
    /// another load. Otherwise as ``stream(length:trailers:make:)``.
    ///
    /// A load that has to send it a second time fails with `requestBodyStreamExhausted`, unless the delegate gives
    /// another body (`needNewBodyStream`).
    public static func stream<Pieces: AsyncSequence & Sendable>(
      _ pieces: Pieces, length: Int64? = nil, trailers: FieldList = FieldList()
    ) -> Body where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
      stream(pieces, length: length, trailers: trailers, origin: nil)
    }

    /// As above; `origin` is what the pieces come from, to be found again.
    package static func stream<Pieces: AsyncSequence & Sendable>(
      _ pieces: Pieces, length: Int64?, trailers: FieldList = FieldList(), origin: (any Sendable)?
    ) -> Body where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
      Body(
        source: .stream(
          BodyStream(length: length, trailers: trailers, once: OnceFlag(), origin: origin) { take in
            for try await piece in pieces { guard await take(piece) else { return } }
          }))
    }

    /// The pieces of an asynchronous sequence, and trailer fields that are known only after the last of them, such as
    /// a digest. Otherwise as ``stream(length:trailers:make:)``.
    ///
    /// - Parameters:
    ///   - length: how many bytes the pieces have together; nil when that is not known. The body is sent in chunks
    ///     either way.
    ///   - make: gives a fresh sequence, from the first byte on.
    ///   - trailersAtEnd: called when the sequence has ended, in the task that iterated it. Fields that cannot be sent
    ///     fail the load; nothing of them is sent then, so the body stays incomplete.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
      length: Int64? = nil, make: @escaping @Sendable () -> Pieces,
      trailersAtEnd: @escaping @Sendable () async throws -> FieldList
    ) -> Body where Pieces.Element == Data, Pieces.AsyncIterator: SendableMetatype {
      Body(
        source: .stream(
          BodyStream(length: length, computesTrailers: trailersAtEnd) { take in
            for try await piece in make() { guard await take(piece) else { return } }
          }))
    }

    /// What the pieces of a stream come from, where whoever made it has said so.
    package var origin: (any Sendable)? {
      guard case .stream(let stream) = source else { return nil }
      return stream.origin
    }

    /// Whether it can be sent but once, and has been begun.
    var isSpent: Bool {
      switch source {
      case .data, .file: false
      case .stream(let stream): stream.isSpent
      case .form(let form): form.isSpent
      }
    }
  }

  /// The body to send, or nil. It is sent with whatever method is set; `Content-Length` and `Transfer-Encoding` are
  /// Gannet's to set.
  public var body: Body? {
    get { storedBody }
    set { storedBody = newValue }
  }

  /// The body's bytes to send; nil without a body, and when it is a file, a stream or a form. Setting it sets `body`.
  public var httpBody: Data? {
    get {
      guard case .data(let data) = storedBody?.source else { return nil }
      return data
    }
    set { storedBody = newValue.map { .data($0) } }
  }
}

/// A body that is made by an asynchronous sequence.
final class BodyStream: Sendable {
  /// Takes a piece, waiting while there is no room; false when no more is wanted.
  typealias Taker = @Sendable (Data) async -> Bool

  let length: Int64?
  let trailers: FieldList
  let computesTrailers: (@Sendable () async throws -> FieldList)?
  /// What the pieces come from, where whoever made this has said so.
  let origin: (any Sendable)?
  /// Makes the sequence, and gives its pieces one after the other.
  private let pieces: @Sendable (Taker) async throws -> Void
  /// Of a sequence that can be iterated once.
  private let once: OnceFlag?

  init(
    length: Int64?, trailers: FieldList = FieldList(),
    computesTrailers: (@Sendable () async throws -> FieldList)? = nil, once: OnceFlag? = nil,
    origin: (any Sendable)? = nil, pieces: @escaping @Sendable (Taker) async throws -> Void
  ) {
    self.length = length.map { max(0, $0) }
    self.trailers = trailers
    self.computesTrailers = computesTrailers
    self.once = once
    self.origin = origin
    self.pieces = pieces
  }

  /// The same pieces, with a length that is known after all.
  func announcing(_ length: Int64) -> BodyStream {
    BodyStream(length: length, once: once, origin: origin, pieces: pieces)
  }

  /// Gives the pieces to `take`, until there are no more or no more are wanted.
  func feed(_ take: Taker) async throws {
    if let once, !once.begin() { throw RequestBodyError.spent }
    try await pieces(take)
  }

  /// Whether it can be iterated but once, and has been begun.
  var isSpent: Bool { once?.isBegun ?? false }

  /// Whether it is sent in chunks, whatever its length is.
  var hasTrailers: Bool { !trailers.isEmpty || computesTrailers != nil }
}

extension BodyStream: Hashable {
  static func == (left: BodyStream, right: BodyStream) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Remembers whether something that can be done once has been begun.
final class OnceFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  var isBegun: Bool { flag.load(ordering: .acquiring) }

  /// Whether this is the first time.
  func begin() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }
}
