#if IDN
  import GannetIDN
  import TestSupport
  import Testing

  @Suite("Punycode, and labels of symbols")
  struct PunycodeTests {
    /// RFC 3492 section 7.1.
    @Test(arguments: [
      ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"), ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
      ("-> $1.00 <-", "-> $1.00 <--"), ("ü", "tda"), ("bücher", "bcher-kva"), ("", ""), ("a", "a-"),
      ("\u{10FFFF}\u{10FFFF}", "dn32ga"),
    ])
    func encode(_ label: String, _ encoded: String) {
      #expect(Punycode.encode(label) == encoded)
    }

    @Test func theLongest() {
      let scalars = String(repeating: "\u{10FFFF}", count: Punycode.longest)
      #expect(Punycode.encode(scalars)?.isEmpty == false)
      #expect(Punycode.encode(scalars + "a") == nil)
    }

    @Test(arguments: [
      ("☃", "xn--n3h"), ("I❤", "xn--i-7iq"), ("❤\u{FE0F}", "xn--qei"), ("♥", "xn--g6h"), ("¡", "xn--7a"),
      ("ü☃", nil), ("ab", nil), ("\u{FFFD}", nil), ("℀", nil), ("\u{FE0F}", nil), ("☃ ", nil), ("", nil),
      (String(repeating: "☃", count: 300), nil),
    ])
    func symbols(_ label: String, _ encoded: String?) {
      #expect(SymbolLabel.encode(label) == encoded)
    }

    @Test("rust-url: Punycode", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
    func vectors() throws {
      var rows = 0
      for row in try VectorFile.rows("url/punycode.json") {
        rows += 1
        #expect(Punycode.encode(row.string("decoded") ?? "") == row.string("encoded"))
      }
      #expect(rows == 25)
    }
  }
#endif
