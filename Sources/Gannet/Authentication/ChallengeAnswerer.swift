import GannetPolicy
import GannetSockets
import Synchronization

/// Takes one challenge's answer from any thread to the load's loop. The first answer counts.
final class ChallengeAnswerer: URLAuthenticationChallengeSender {
  private let connection: URLConnection
  private let host: EventLoop.Handle
  private let isAnswered = Atomic<Bool>(false)

  init(_ connection: URLConnection, host: EventLoop.Handle) {
    self.connection = connection
    self.host = host
  }

  func use(_ credential: URLCredential?, for challenge: URLAuthenticationChallenge) {
    guard let login = credential?.withPassword else { return continueWithoutCredential(for: challenge) }
    answer(.use(login), credential)
  }

  func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
    answer(.withoutCredential)
  }

  func cancel(_ challenge: URLAuthenticationChallenge) {
    answer(.cancel)
  }

  func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
    answer(.withoutCredential)
  }

  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
    answer(.rejectSpace)
  }

  private func answer(_ answer: LoadMachine.ChallengeAnswer, _ credential: URLCredential? = nil) {
    guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let connection = connection
    host.post { loop in LoopClient.of(loop).load(of: connection)?.answered(answer, credential: credential) }
  }
}

extension URLCredential {
  /// The user name and password, when there is a user name.
  var withPassword: PasswordCredential? {
    user.map { PasswordCredential(user: $0, password: password ?? "") }
  }
}
