import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("Resolver") struct ResolverTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("2001:db8::A", "[2001:db8::a]:80"),
    ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"), ("fe80::1%1", "[fe80::1%1]:80"), ("0.0.0.0", "0.0.0.0:80"),
    ("255.255.255.255", "255.255.255.255:80"),
  ])
  func numericHostsNeedNoQuestion(_ host: String, _ description: String) throws {
    let addresses = try #require(try Resolver.immediateAnswer(host, port: 80)?.get())
    #expect(addresses.map(\.description) == [description])
  }

  @Test(arguments: [
    "localhost", "example.com", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::g", "fe80::1%", "fe80::1%nosuchzone0",
    "invalid.example",
  ])
  func namesDo(_ host: String) {
    #expect(Resolver.immediateAnswer(host, port: 80) == nil)
  }

  @Test func localhostIsThisMachine() throws {
    let loop = try EventLoop()
    var answer: Resolver.Answer?
    _ = Resolver.shared.resolve("localhost", port: 8080, on: loop) { found, _ in answer = found }
    #expect(answer == nil)
    loop.turns { answer != nil }
    let addresses = try #require(try answer?.get())
    for address in addresses { #expect(address.isLoopback && address.port == 8080) }
    #expect(!addresses.isEmpty)
  }

  @Test func aCancelledLookupIsSilent() throws {
    let loop = try EventLoop()
    let gate = Gate()
    let asked = Log()
    let resolver = Resolver(threadLimit: 1) { host, port in
      gate.wait()
      asked.add(host)
      return .success([.ipv4(1, port: port)])
    }
    var answers: [String] = []
    let running = resolver.resolve("running", port: 1, on: loop) { _, _ in answers.append("running") }
    let waiting = resolver.resolve("waiting", port: 1, on: loop) { _, _ in answers.append("waiting") }
    _ = resolver.resolve("last", port: 1, on: loop) { _, _ in answers.append("last") }
    let numeric = resolver.resolve("1.2.3.4", port: 1, on: loop) { _, _ in answers.append("numeric") }
    for lookup in [running, waiting, numeric] { lookup.cancel() }
    gate.open()
    loop.turns { !answers.isEmpty }
    #expect(answers == ["last"])
    #expect(!asked.entries.contains("waiting"))
  }

  @Test func questionsAreAskedAFewAtATime() throws {
    let loop = try EventLoop()
    let (counter, gate) = (Counter(), Gate())
    let resolver = Resolver(threadLimit: 3) { _, port in
      counter.enter()
      gate.wait()
      counter.leave()
      return .success([.ipv4(1, port: port)])
    }
    var answers = 0
    for index in 0..<30 {
      _ = resolver.resolve("host\(index)", port: 1, on: loop) { _, _ in answers += 1 }
    }
    loop.turns { counter.now == 3 }
    gate.open()
    loop.turns { answers == 30 }
    #expect(answers == 30 && counter.most == 3)
  }

  @Test func theSameQuestionIsAskedOnceForAllThatWait() throws {
    let loop = try EventLoop()
    let (asked, gate) = (Log(), Gate())
    let resolver = Resolver(threadLimit: 1) { host, port in
      asked.add(host)
      gate.wait()
      return .success([.ipv4(1, port: port)])
    }
    var answers: [String] = []
    for host in ["first", "same", "other", "same", "same"] {
      _ = resolver.resolve(host, port: 1, on: loop) { _, _ in answers.append(host) }
      loop.turns { asked.entries.first == "first" }
    }
    gate.open()
    loop.turns { answers.count == 5 }
    #expect(answers == ["first", "same", "same", "same", "other"])
    #expect(asked.entries == ["first", "same", "other"])
  }

  @Test func aLookupMayOutliveItsLoop() throws {
    let gate = Gate()
    let resolver = Resolver { _, port in
      gate.wait()
      return .success([.ipv4(1, port: port)])
    }
    var answers = 0
    do {
      let loop = try EventLoop()
      _ = resolver.resolve("late", port: 1, on: loop) { _, _ in answers += 1 }
    }
    gate.open()
    #expect(answers == 0)
  }

  @Test func failuresHaveWords() {
    #expect(!ResolveFailure(code: CInt(EAI_NONAME)).words.isEmpty)
    #expect(ResolveFailure(code: CInt(EAI_SYSTEM), errno: ENOENT).words == SystemError.words(for: ENOENT))
  }
}
