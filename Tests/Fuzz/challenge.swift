import GannetHTTP
import GannetPolicy

/// Fields that ask for a login: nothing traps, what was read and is written as RFC 9110 has it is read the same again,
/// and the answer to a Digest challenge can be sent and names what was asked.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    memory.lend(bytes[...]) { field in
      let challenges = AuthenticationChallengeParser.parse(field)
      let again = AuthenticationChallengeParser.parse(written(challenges).span)
      require(again == challenges, "\(challenges) is read again as \(again)")
      for challenge in challenges {
        require(isName(challenge.scheme), "no scheme")
        require(challenge.parameters.allSatisfy { isName($0.name) }, "no name")
        require(challenge.token68 == nil || challenge.parameters.isEmpty, "a token68 and parameters")
        if let digest = DigestChallenge(challenge) { answer(digest) }
      }
      _ = AuthenticationChallengeParser.parameters(field)
    }
  }
}

private let memory = GuardedMemory(capacity: 4096)
private let origin = (try? HTTPURL("http://h.test/"))?.origin
private let user = "Mufasa \"of\" \\ Zürich"

private func isName(_ name: String) -> Bool {
  !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }
}

/// The challenges as one field.
private func written(_ challenges: [AuthenticationChallenge]) -> [UInt8] {
  let separator = Array(", ".utf8)
  return Array(
    challenges.map { challenge -> [UInt8] in
      if let token68 = challenge.token68 { return Array("\(challenge.scheme) \(token68)".utf8) }
      let parameters = challenge.parameters.map { Array("\($0.name)=".utf8) + quoted($0.bytes) }
      return Array("\(challenge.scheme)".utf8) + (parameters.isEmpty ? [] : [0x20])
        + Array(parameters.joined(separator: separator))
    }.joined(separator: separator))
}

private func quoted(_ value: [UInt8]) -> [UInt8] {
  let quote = UInt8(ascii: "\"")
  let escape = UInt8(ascii: "\\")
  return [quote] + value.flatMap { $0 == quote || $0 == escape ? [escape, $0] : [$0] } + [quote]
}

private func answer(_ challenge: DigestChallenge) {
  guard let origin else { return require(false, "the origin is no URL") }
  let login = DigestLogin(
    origin: origin, credential: PasswordCredential(user: user, password: "p"), challenge: challenge)
  let answer = DigestAnswer(login, count: 7, clientNonce: "c")
  let field = answer.authorization(method: "GET", target: "/?a=b,c", body: Span()) { function, text in
    // No hash: what goes into it is of no interest here.
    [UInt8(truncatingIfNeeded: text.count), function == .md5 ? 1 : 2]
  }
  guard let field else { return require(false, "no answer") }
  require(!field.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "an answer that cannot be sent")
  let read = AuthenticationChallengeParser.parse(field.span)
  require(read.count == 1 && read[0].scheme == "digest", "an answer that says something else")
  require(read[0].bytes(of: "nonce") == challenge.nonce, "another nonce")
  require(read[0].bytes(of: "realm") == challenge.realm ?? [], "another realm")
  require(read[0].bytes(of: "opaque") == challenge.opaque, "another opaque")
  require(read[0].bytes(of: "uri") == Array("/?a=b,c".utf8), "another target")
}
