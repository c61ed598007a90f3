public import GannetHTTP

/// Why a connection carries no other request.
public enum ConnectionCloseReason: Hashable, Sendable {
  /// What the response said, or how it was framed: `Persistence` has the reasons.
  case response(Persistence)
  /// The request said so: `Connection: close`, or it was sent as HTTP/1.0.
  case asked
  /// It has carried as many exchanges as the server allows (`Keep-Alive: max`).
  case exchangeLimit
  /// It was idle for its whole time, or no time was given.
  case idleTimeOver
  /// It was idle, and another connection needed its place.
  case placeNeeded
  /// The server said something that answers no request: after a body, or on the idle connection.
  case unaskedBytes
  /// The server ended or reset it.
  case serverEnded
  /// The load did not want the rest of the response, and that is more than is read to save a connection, or took too
  /// long; or it wanted nothing any more before the request was sent.
  case unwanted
  /// The stream of parts said that it is over.
  case streamOver
  /// What the load failed by, or would have.
  case failed(ConnectionError.Code)
  /// The event loop has ended.
  case loopEnded
}

extension ConnectionCloseReason: CustomStringConvertible {
  /// The reason for a person, as the end of "closed: …".
  public var description: String {
    switch self {
    case .response(let persistence): persistence.words
    case .asked: "the request asked for it"
    case .exchangeLimit: "the server takes no more requests on it (Keep-Alive: max)"
    case .idleTimeOver: "its idle time is over"
    case .placeNeeded: "another connection needs its place"
    case .unaskedBytes: "the server said something unasked"
    case .serverEnded: "the server ended it"
    case .unwanted: "the rest of the response is not wanted"
    case .streamOver: "the stream of parts is over"
    case .failed(let code): "the load failed (\(code.name))"
    case .loopEnded: "the event loop has ended"
    }
  }
}

extension Persistence {
  fileprivate var words: String {
    switch self {
    case .reusable: "it is not needed"
    case .closeRequested: "the server asked for it"
    case .http10: "the server speaks HTTP/1.0"
    case .framedByClose: "the body ended with it"
    case .lengthWithTransferEncoding: "Transfer-Encoding came with Content-Length"
    case .transferEncodingInHTTP10: "Transfer-Encoding came in HTTP/1.0"
    case .tolerated(let tolerances): "what came could be read in two ways (\(tolerances))"
    case .upgraded: "it speaks another protocol now"
    case .requestUnfinished: "the request was not sent to its end"
    case .closed: "the server ended it"
    case .outOfStep: "what came is no answer"
    }
  }
}
