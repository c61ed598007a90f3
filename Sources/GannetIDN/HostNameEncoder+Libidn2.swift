#if IDN
  import CIDN2
  package import GannetHTTP

  extension HostNameEncoder {
    /// libidn2's encoder (its tables are those of UTS 46 and IDNA 2008).
    ///
    /// Labels in ASCII stay as they are, as the URL standard has it, and labels of symbols (`♥`), which libidn2 refuses as
    /// IDNA 2008 does, are encoded as `SymbolLabel` says. Of the others libidn2 refuses, where browsers do not, some
    /// characters that IDNA 2008 disallows, hyphens at the ends or in the third and fourth place, and labels that are
    /// longer than 63 bytes, which no name server knows.
    package static let libidn2 = HostNameEncoder { (name: String) throws(Failure) -> String in
      var labels: [String] = []
      // The full stops of UTS 46, and so of browsers.
      let parts = name.unicodeScalars.split(
        omittingEmptySubsequences: false,
        whereSeparator: { ".\u{3002}\u{FF0E}\u{FF61}".unicodeScalars.contains($0) })
      for part in parts { labels.append(try encode(label: String(part))) }
      return labels.joined(separator: ".")
    }

    private static func encode(label: String) throws(Failure) -> String {
      let lowercased = label.lowercased()
      if label.utf8.allSatisfy({ $0 < 0x80 }), !lowercased.hasPrefix("xn--") { return lowercased }
      if let symbols = SymbolLabel.encode(label) { return symbols }
      guard !label.utf8.contains(0) else { throw Failure("string contains a disallowed character") }
      var output: UnsafeMutablePointer<CChar>?
      let flags = CInt(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
      // SAFETY: the label's text lives through the call, which allocates its output where it gives 0.
      let code = unsafe idn2_to_ascii_8z(label, &output, flags)
      guard code == 0, let text = unsafe output else {
        // SAFETY: a text that is never freed; there is one for each code.
        throw Failure(unsafe String(cString: idn2_strerror(code)))
      }
      // SAFETY: a terminated text that is this function's own, copied before it is freed.
      defer { unsafe idn2_free(text) }
      return unsafe String(cString: text)
    }
  }
#endif
