/// Why a request went over the connection it had: one that was kept, or a new one.
public enum ConnectionChoice: Hashable, Sendable {
  /// It had carried another request before, and was free.
  case kept
  /// A new one: none was open to the host.
  case noneOpen
  /// A new one: those that were open to the host were busy, or go there in another way (another trust, another socket).
  case othersBusy
  /// A new one: the request is sent again, since the kept one it went over turned out to be dead.
  case keptOneFailed
}

extension ConnectionChoice: CustomStringConvertible {
  /// The choice for a person.
  public var description: String {
    switch self {
    case .kept: "one that was kept"
    case .noneOpen: "a new one, as none was open"
    case .othersBusy: "a new one, as the others were busy"
    case .keptOneFailed: "a new one, as the one that was kept had failed"
    }
  }
}
