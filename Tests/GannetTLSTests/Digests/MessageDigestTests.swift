import GannetTLS
import Testing

@Suite("Digests")
struct MessageDigestTests {
  /// The examples of RFC 1321 and of FIPS 180-4's publisher, NIST.
  @Test(
    arguments: [
      (.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
      (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
      (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (.sha512To256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ] as [(MessageDigest.Function, String, String)])
  func isTheSameHoweverTheBytesAreCut(
    _ function: MessageDigest.Function, _ text: String, _ expected: String
  ) throws {
    let bytes = Array(text.utf8)
    let digest = try MessageDigest(function)
    for cut in 0...bytes.count {
      try digest.update(bytes.span.extracting(0..<cut))
      try digest.update(bytes.span.extracting(cut..<bytes.count))
      #expect(try hex(digest.finish()) == expected)
    }
    #expect(try hex(MessageDigest.digest(of: bytes.span, function)) == expected)
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
