/// What a stream has shown about the lengths that its parts promise.
enum LengthRecord: Hashable, Sendable {
  /// Nothing yet.
  case untried
  /// A delimiter stood where a part promised to end; `endsPictures` when that was the end of a picture too.
  case proved(endsPictures: Bool)
  /// A part did not end where it promised to: from then on promises are not looked at.
  case refuted

  var areProved: Bool {
    switch self {
    case .proved: true
    case .untried, .refuted: false
    }
  }
}
