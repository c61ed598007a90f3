import GannetPolicy
import Testing

/// Which of the things that a protocol class says count.
@Suite(.timeLimit(.minutes(1))) struct ProtocolMachineTests {
  private typealias Word = ProtocolMachine.Word

  /// What is let pass, and the breach that ended it.
  private static func run(_ words: [Word], redirects: Int = 0) -> ([Word], ProtocolMachine.Breach?) {
    var machine = ProtocolMachine(maximumRedirects: 2, redirects: redirects)
    var passed: [Word] = []
    var breach: ProtocolMachine.Breach?
    for word in words {
      switch machine.said(word) {
      case .pass:
        passed.append(word)
        if word == .redirect { machine.followed() }
      case .ignore: break
      case .fail(let reason):
        #expect(breach == nil && machine.hasEnded)
        breach = reason
      }
    }
    return (passed, breach)
  }

  @Test(
    arguments: [
      ([.response, .data, .finish], [.response, .data, .finish], nil),
      ([.response, .finish], [.response, .finish], nil),
      ([.response, .data, .response, .data, .finish], [.response, .data, .response, .data, .finish], nil),
      ([.failure], [.failure], nil),
      ([.response, .failure], [.response, .failure], nil),
      ([.response, .finish, .finish, .failure, .data, .response], [.response, .finish], nil),
      ([.failure, .finish, .response], [.failure], nil),
      ([.data, .response, .finish], [], .dataBeforeResponse),
      ([.finish, .response], [], .endWithoutResponse),
      ([.redirect, .response, .finish], [.redirect, .response, .finish], nil),
      ([.response, .redirect, .finish], [.response], .redirectAfterResponse),
      ([.redirect, .redirect, .redirect], [.redirect, .redirect], .tooManyRedirects),
      ([.challenge, .response, .finish], [.challenge, .response, .finish], nil),
      ([.challenge, .challengeCancelled, .failure], [.challenge, .challengeCancelled, .failure], nil),
      ([.challengeCancelled, .response], [.response], nil),
      ([.response, .challengeCancelled, .finish], [.response, .finish], nil),
      ([.response, .challenge], [.response], .challengeAfterResponse),
    ] as [([ProtocolMachine.Word], [ProtocolMachine.Word], ProtocolMachine.Breach?)])
  func whatCounts(
    _ words: [ProtocolMachine.Word], _ passed: [ProtocolMachine.Word], _ breach: ProtocolMachine.Breach?
  ) {
    let outcome = Self.run(words)
    #expect(outcome.0 == passed && outcome.1 == breach)
  }

  /// Whatever five words are said, what passes is a load: a response before data, redirects and challenges before it, at
  /// most one end, nothing after it.
  @Test func anyWordsAreALoad() {
    let all = Word.allCases
    for number in 0..<Int(all.count * all.count * all.count * all.count * all.count) {
      var (words, rest) = ([Word](), number)
      for _ in 0..<5 {
        words.append(all[rest % all.count])
        rest /= all.count
      }
      let (passed, breach) = Self.run(words)
      let ends = passed.count { $0 == .finish || $0 == .failure } + (breach == nil ? 0 : 1)
      let response = passed.firstIndex(of: .response)
      #expect(ends <= 1, "\(words)")
      if let end = passed.firstIndex(where: { $0 == .finish || $0 == .failure }) {
        #expect(end == passed.count - 1, "\(words)")
      }
      for (index, word) in passed.enumerated() {
        switch word {
        case .data, .finish: #expect(response.map { $0 < index } == true, "\(words)")
        case .redirect, .challenge: #expect(response.map { $0 > index } ?? true, "\(words)")
        case .response, .failure, .challengeCancelled: break
        }
      }
    }
  }

  @Test func nothingCountsAfterARedirectUntilItIsFollowedNorAfterTheEnd() {
    var machine = ProtocolMachine(maximumRedirects: 2)
    #expect(machine.said(.redirect) == .pass && machine.redirects == 1)
    for word in Word.allCases { #expect(machine.said(word) == .ignore) }
    machine.followed()
    #expect(machine.said(.challenge) == .pass && machine.awaitsCredential)
    machine.ended()
    for word in Word.allCases { #expect(machine.said(word) == .ignore) }
    #expect(machine.hasEnded)
  }

  @Test func redirectsFollowedBeforeCount() {
    #expect(Self.run([.redirect], redirects: 2) == ([], .tooManyRedirects))
  }
}
