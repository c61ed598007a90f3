extension String {
  /// The text on one line, with what a terminal would act on shown as an escape: a server's or a URL's characters
  /// neither break a message in two nor move the cursor.
  package var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case _ where scalar.isControl: text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// A control character other than the tab, or a separator of lines or paragraphs.
  fileprivate var isControl: Bool {
    switch value {
    case 0x09: false
    case ..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    default: false
    }
  }
}
