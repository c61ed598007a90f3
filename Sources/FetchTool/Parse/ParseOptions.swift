/// What `gannet parse` was asked to do.
package struct ParseOptions: Hashable, Sendable {
  /// How the input is cut into pieces.
  package enum Cut: Hashable, Sendable {
    case whole
    /// Pieces of so many bytes.
    case pieces(Int)
    /// Whole, and then each place for two pieces, comparing what comes of them.
    case every
  }

  /// The methods of the requests that the input answers; the last one is repeated.
  package var methods = ["GET"]
  package var cut = Cut.whole
  /// Whether the connection ends with the input.
  package var endsWithInput = true
  /// Whether content codings are undone.
  package var decodes = false

  package init() {}

  package static let flags = [
    Flag("method", nil, .required), Flag("cut", nil, .required), Flag("eof"), Flag("no-eof"), Flag("decode"),
    Flag("help", "h"),
  ]

  /// Reads the command line after `parse`; nil when it asks for help.
  package static func read(_ words: [String]) throws(ArgumentError) -> ParseOptions? {
    var options = ParseOptions()
    var methods: [String] = []
    for argument in try ArgumentParser(flags: flags).parse(words) {
      switch argument {
      case .flag("help", _): return nil
      case .flag("method", let method?):
        guard !method.isEmpty, method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
          throw ArgumentError("--method needs a method, such as GET")
        }
        methods.append(method)
      case .flag("cut", let value?): options.cut = try cut(value)
      case .flag("eof", _): options.endsWithInput = true
      case .flag("no-eof", _): options.endsWithInput = false
      case .flag("decode", _): options.decodes = true
      case .flag(let name, _): throw ArgumentError("unknown flag --\(name)")
      case .operand(let operand):
        throw ArgumentError("parse reads standard input and takes no operand, but was given \"\(operand)\"")
      }
    }
    if !methods.isEmpty { options.methods = methods }
    return options
  }

  private static func cut(_ value: String) throws(ArgumentError) -> Cut {
    if value == "every" { return .every }
    guard let length = Int(value), length > 0 else {
      throw ArgumentError("--cut needs a number of bytes above 0, or \"every\", not \"\(value)\"")
    }
    return .pieces(length)
  }
}
