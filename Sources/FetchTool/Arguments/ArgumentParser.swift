/// The flags of one command.
package struct Flag: Sendable {
  /// Whether and how a value follows.
  package enum Value: Sendable {
    /// Just the flag.
    case none
    /// `--flag VALUE`, `--flag=VALUE`, `-f VALUE`, `-fVALUE`.
    case required
    /// `--flag` or `--flag=VALUE`.
    case optional
  }

  /// The long name, without the dashes; it also names the flag to the program.
  package let name: String
  /// The letter of the short form.
  package let letter: Character?
  package let value: Value

  /// Makes a flag.
  package init(_ name: String, _ letter: Character? = nil, _ value: Value = .none) {
    self.name = name
    self.letter = letter
    self.value = value
  }
}

/// One thing on a command line.
package enum Argument: Hashable, Sendable {
  /// A flag, by its long name, with its value.
  case flag(String, String?)
  /// Anything else.
  case operand(String)
}

/// What is wrong with a command line, as a sentence.
package struct ArgumentError: Error, Hashable, Sendable {
  package let sentence: String

  package init(_ sentence: String) { self.sentence = sentence }
}

/// Reads a command line: long and short flags in any order among the operands, bundles of letters (`-kv`, `-ofile`),
/// and `--`, after which everything is an operand.
package struct ArgumentParser {
  package let flags: [Flag]

  package init(flags: [Flag]) { self.flags = flags }

  /// Reads `words`, the command line after the command's name.
  package func parse(_ words: [String]) throws(ArgumentError) -> [Argument] {
    var result: [Argument] = []
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if word == "--" {
        return result + words[index...].map { .operand($0) }
      } else if word.hasPrefix("--") {
        result.append(try parseLong(word, words, &index))
      } else if word.hasPrefix("-"), word.utf8.count > 1 {
        try parseBundle(word.dropFirst(), words, &index, into: &result)
      } else {
        result.append(.operand(word))
      }
    }
    return result
  }

  private func parseLong(
    _ word: String, _ words: [String], _ index: inout Int
  ) throws(ArgumentError) -> Argument {
    let halves = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let given = halves.count == 2 ? String(halves[1]) : nil
    guard let flag = flags.first(where: { $0.name == halves[0] }) else {
      throw ArgumentError("unknown flag --\(halves[0])")
    }
    switch flag.value {
    case .none:
      guard given == nil else { throw ArgumentError("--\(flag.name) takes no value") }
      return .flag(flag.name, nil)
    case .optional:
      return .flag(flag.name, given)
    case .required:
      if let given { return .flag(flag.name, given) }
      return .flag(flag.name, try nextWord("--" + flag.name, words, &index))
    }
  }

  private func parseBundle(
    _ letters: Substring, _ words: [String], _ index: inout Int, into result: inout [Argument]
  ) throws(ArgumentError) {
    var rest = letters
    while let letter = rest.popFirst() {
      guard let flag = flags.first(where: { $0.letter == letter }) else {
        throw ArgumentError("unknown flag -\(letter)")
      }
      if flag.value == .required {
        let value = rest.isEmpty ? try nextWord("-\(letter)", words, &index) : String(rest)
        return result.append(.flag(flag.name, value))
      }
      result.append(.flag(flag.name, nil))
    }
  }

  private func nextWord(
    _ flag: String, _ words: [String], _ index: inout Int
  ) throws(ArgumentError) -> String {
    guard index < words.count else { throw ArgumentError("\(flag) needs a value") }
    index += 1
    return words[index - 1]
  }
}
