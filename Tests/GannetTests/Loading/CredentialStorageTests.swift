import Gannet
import Testing

/// What the storage keeps of the credentials that loads give it, whose spaces servers name.
@Suite struct CredentialStorageTests {
  private let storage = URLCredentialStorage()
  private let credential = URLCredential(user: "u", password: "p", persistence: .forSession)

  private func space(_ realm: String) -> URLProtectionSpace {
    URLProtectionSpace(
      host: "h", port: 80, protocol: "http", realm: realm, authenticationMethod: .httpDigest)
  }

  @Test func whatLoadsKeepIsBounded() {
    for number in 0...URLCredentialStorage.maximumKeptSpaces {
      storage.keep(credential, for: space("\(number)"))
      storage.keep(credential, for: space("\(number)"))
    }
    #expect(storage.allCredentials.count == URLCredentialStorage.maximumKeptSpaces)
    #expect(storage.defaultCredential(for: space("0")) == nil)
    #expect(storage.defaultCredential(for: space("1")) == credential)
  }

  @Test func whatTheProgramKeepsIsNotLetGo() {
    storage.set(credential, for: space("before"))
    storage.keep(credential, for: space("before"))
    storage.keep(credential, for: space("after"))
    storage.setDefaultCredential(credential, for: space("after"))
    storage.keep(credential, for: space("removed"))
    storage.remove(credential, for: space("removed"))
    for number in 0...URLCredentialStorage.maximumKeptSpaces {
      storage.keep(credential, for: space("\(number)"))
    }
    #expect(storage.allCredentials.count == URLCredentialStorage.maximumKeptSpaces + 2)
    #expect(storage.defaultCredential(for: space("before")) == credential)
    #expect(storage.defaultCredential(for: space("after")) == credential)
  }

  @Test func anEndlessRealmIsNotKept() {
    let longest = String(repeating: "r", count: URLCredentialStorage.maximumKeptRealmBytes)
    storage.keep(credential, for: space(longest + "r"))
    #expect(storage.allCredentials.isEmpty)
    storage.keep(credential, for: space(longest))
    #expect(storage.allCredentials.count == 1)
  }
}
