import GannetTLS
import Testing

@Suite("Digests: SHA-256")
struct SHA256DigestTests {
  /// The examples of FIPS 180-4's publisher, NIST.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func isTheSameHoweverTheBytesAreCut(_ text: String, _ expected: String) throws {
    let bytes = Array(text.utf8)
    let digest = try SHA256Digest()
    for cut in 0...bytes.count {
      try digest.update(bytes.span.extracting(0..<cut))
      try digest.update(bytes.span.extracting(cut..<bytes.count))
      let hex = try digest.finish().map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
      #expect(hex.joined() == expected)
    }
  }
}
