import Gannet

/// Listing 7: answers with the credentials of the preferences once, and gives up when they are wrong.
final class LoggingIn: Receiving {
  let preferencesName: String
  let preferencesPassword: String

  init(name: String, password: String) {
    (preferencesName, preferencesPassword) = (name, password)
  }

  override func connection(
    _ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge
  ) {
    if challenge.previousFailureCount == 0 {
      let newCredential = URLCredential(
        user: preferencesName, password: preferencesPassword, persistence: .none)
      challenge.sender?.use(newCredential, for: challenge)
    } else {
      challenge.sender?.cancel(challenge)
      print("The user name and the password in the preferences are incorrect")
    }
  }
}
