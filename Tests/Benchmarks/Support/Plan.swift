import FoundationEssentials
package import Gannet

/// What to load, how often and how.
package struct Plan {
  package let mode: String
  package var request: URLRequest
  package let configuration: URLConnection.Configuration
  /// How many loads count.
  package var count: Int
  /// How many more come before the clock starts.
  package var warmUp = 0
  /// How many run at a time.
  package var width = 1
  /// Where each body goes; nil drops it.
  package var file: String?

  /// What `MODE URL N CONC` on the command line asks for; how many at a time is left to the mode. Anything else ends the
  /// process with `usage`. RIG_CA names the certificates to trust.
  package init(usage: String) {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let url = URL(string: arguments[2]), let count = Int(arguments[3]), count > 0,
      let width = Int(arguments[4]), width > 0
    else {
      quit(usage, status: 64)
    }
    var configuration = URLConnection.Configuration.default
    configuration.maximumConnectionsPerHost = width
    if let file = environment("RIG_CA") { configuration.trust = .file(file) }
    mode = arguments[1]
    request = URLRequest(url: url)
    self.configuration = configuration
    self.count = count
  }
}
