/// A label made of symbols, with ASCII letters and digits between them: `i❤`, `☃`. IDNA 2008 disallows them, UTS 46 and
/// browsers do not, and there are such names.
package enum SymbolLabel {
  /// The ASCII form of a label that holds nothing else and at least one symbol; nil for another.
  package static func encode(_ label: String) -> String? {
    var plain = String.UnicodeScalarView()
    for scalar in label.unicodeScalars where scalar.value != emojiStyle {
      guard isPlain(scalar) || isSymbol(scalar) else { return nil }
      plain.append(scalar)
    }
    let name = String(plain).lowercased()
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    guard !isASCII, let encoded = Punycode.encode(name), encoded.utf8.count <= 59 else { return nil }
    return "xn--" + encoded
  }

  /// U+FE0F, which asks for a picture in place of a sign; UTS 46 drops it.
  private static let emojiStyle: UInt32 = 0xFE0F

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
    default: false
    }
  }

  /// Whether UTS 46 takes the character as it stands though IDNA 2008 does not (its table says "NV8"): punctuation and
  /// symbols that compatibility does not make something else, in the blocks that no script owns, so that no rule of
  /// direction is about them.
  private static func isSymbol(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xA1...0xBF, 0x2010...0x2BFF, 0x1F000...0x1FAFF: break
    default: return false
    }
    guard !scalar.properties.changesWhenNFKCCaseFolded else { return false }
    switch scalar.properties.generalCategory {
    case .otherSymbol, .mathSymbol, .currencySymbol, .modifierSymbol, .otherPunctuation, .dashPunctuation,
      .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation, .connectorPunctuation:
      return true
    default: return false
    }
  }
}
