package import Gannet
import GannetHTTP

/// What is known of a load that has ended, for `-w`.
package struct WriteOutFacts: Sendable {
  /// The value of a variable.
  enum Value: Hashable, Sendable {
    case text(String)
    case number(Int64)
    case status(Int)
    case seconds(Duration)

    /// As `-w` prints it: seconds with six decimals, a status with three digits (000 where there was none), as in curl.
    var text: String {
      switch self {
      case .text(let text): text
      case .number(let number): String(number)
      case .status(let status):
        String(repeating: "0", count: max(0, 3 - String(status).utf8.count)) + String(status)
      case .seconds(let duration): WriteOutFacts.decimal(duration)
      }
    }
  }

  /// How the load was asked for and what came of it.
  package struct Outcome: Sendable {
    package var url = ""
    /// Its place on the command line, from 0.
    package var index = 0
    package var response: URLResponse?
    /// Bytes of the body that the delegate was given.
    package var bodyBytes: Int64 = 0
    package var metrics: URLConnectionMetrics?
    package var exitCode = ExitCode.finished
    package var message: String?
    /// When it began and ended.
    package var (start, end) = (ContinuousClock.now, ContinuousClock.now)
    /// Whether certificates are verified.
    package var verifies = true

    package init() {}
  }

  private(set) var values: [WriteOutVariable: Value] = [:]
  private let fields: FieldList?

  package init(_ outcome: Outcome) {
    fields = (outcome.response as? HTTPURLResponse)?.fields
    let last = outcome.metrics?.transactions.last
    addRequest(outcome, last)
    addConnection(outcome, last)
    addSizes(outcome, last)
    addTimes(outcome, last)
  }

  private mutating func addRequest(
    _ outcome: Outcome, _ last: URLConnectionMetrics.Transaction?
  ) {
    let effective = last?.urlString ?? urlForMessage(outcome.url)
    values[.url] = .text(urlForMessage(outcome.url))
    values[.urlnum] = .number(Int64(outcome.index))
    values[.url_effective] = .text(outcome.response?.urlString ?? effective)
    values[.scheme] = effective.firstIndex(of: ":").map { .text(String(effective[..<$0])) }
    values[.method] = last.map { .text($0.method) }
    let http = outcome.response as? HTTPURLResponse
    values[.response_code] = .status(http?.statusCode ?? last?.statusCode ?? 0)
    let type = http == nil ? outcome.response?.mimeType : http?.value(forHTTPHeaderField: "Content-Type")
    values[.content_type] = type.map { .text($0) }
    values[.http_version] = .text(http.map { String($0.httpVersion.dropFirst(5)) } ?? "0")
    values[.num_redirects] = .number(Int64(outcome.metrics?.redirectCount ?? 0))
    values[.exitcode] = .number(Int64(outcome.exitCode.rawValue))
    values[.errormsg] = outcome.message.map { .text($0) }
  }

  private mutating func addConnection(
    _ outcome: Outcome, _ last: URLConnectionMetrics.Transaction?
  ) {
    let transactions = outcome.metrics?.transactions ?? []
    values[.num_connects] = .number(
      Int64(transactions.count { $0.connectionNumber != nil && !$0.isReusedConnection }))
    values[.remote_ip] = last?.remoteAddress.map { .text($0) }
    values[.remote_port] = .number(Int64(last?.remotePort ?? 0))
    values[.local_ip] = last?.localAddress.map { .text($0) }
    values[.local_port] = .number(Int64(last?.localPort ?? 0))
    // Of a certificate that nobody has verified there is nothing to say; OpenSSL's 1 is an error that is not specified.
    if outcome.exitCode == .badCertificate {
      values[.ssl_verify_result] = .number(1)
    } else if last?.tlsVersion != nil, outcome.verifies {
      values[.ssl_verify_result] = .number(0)
    }
  }

  private mutating func addSizes(_ outcome: Outcome, _ last: URLConnectionMetrics.Transaction?) {
    let transactions = outcome.metrics?.transactions ?? []
    // Of a file or data URL there is no transaction.
    let download = last?.countOfResponseBodyBytesReceived ?? outcome.bodyBytes
    let upload = last?.countOfRequestBodyBytesBeforeEncoding ?? 0
    values[.size_download] = .number(download)
    values[.size_upload] = .number(upload)
    values[.size_header] = .number(
      transactions.reduce(0) { $0 + $1.countOfResponseHeaderBytesReceived })
    values[.size_request] = .number(transactions.reduce(0) { $0 + $1.countOfRequestHeaderBytesSent })
    values[.speed_download] = .number(WriteOutFacts.rate(download, outcome.start.duration(to: outcome.end)))
    values[.speed_upload] = .number(WriteOutFacts.rate(upload, outcome.start.duration(to: outcome.end)))
  }

  /// Seconds from the start of the load to each point of its last transaction; 0 where there was no such point.
  private mutating func addTimes(_ outcome: Outcome, _ last: URLConnectionMetrics.Transaction?) {
    func until(_ instant: ContinuousClock.Instant?) -> Value {
      .seconds(instant.map { outcome.start.duration(to: $0) } ?? .zero)
    }
    values[.time_namelookup] = until(last?.domainLookupEnd ?? last?.connectStart)
    // curl's is that of the socket, without TLS.
    values[.time_connect] = until(last?.secureConnectionStart ?? last?.connectEnd)
    values[.time_appconnect] = until(last?.secureConnectionEnd)
    values[.time_pretransfer] = until(last?.requestStart)
    values[.time_starttransfer] = until(last?.responseStart)
    values[.time_total] = until(outcome.end)
    values[.time_redirect] =
      outcome.metrics?.redirectCount ?? 0 > 0 ? until(last?.fetchStart) : .seconds(.zero)
  }

  /// The value of a field of the response, or nil.
  func field(_ name: String) -> String? { fields?.combinedValue(for: name) }

  /// All variables, in the order of their names; what has no value is null.
  var json: String {
    var line = JSONLine()
    for variable in WriteOutVariable.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
      switch values[variable] {
      case .text(let text)?: line.add(variable.rawValue, text)
      case .number(let number)?: line.add(variable.rawValue, number)
      case .status(let status)?: line.add(variable.rawValue, Int64(status))
      case .seconds(let duration)?: line.add(variable.rawValue, literal: WriteOutFacts.decimal(duration))
      case nil: line.add(variable.rawValue, nil as String?)
      }
    }
    return line.text
  }

  /// Seconds with six decimals.
  static func decimal(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let micros = String(max(0, attoseconds) / 1_000_000_000_000)
    return "\(max(0, seconds))." + String(repeating: "0", count: 6 - micros.utf8.count) + micros
  }

  /// Bytes a second, rounded down.
  private static func rate(_ bytes: Int64, _ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let time = Double(seconds) + Double(attoseconds) / 1e18
    return time > 0 ? Int64(exactly: (Double(bytes) / time).rounded(.down)) ?? 0 : 0
  }
}

extension FetchLoad {
  /// What is known of the load, of its last attempt where there were several.
  func facts(verifies: Bool) -> WriteOutFacts {
    var outcome = WriteOutFacts.Outcome()
    outcome.url = request.urlString
    outcome.index = index
    outcome.response = response
    outcome.bodyBytes = bodyBytes
    outcome.metrics = metrics
    outcome.exitCode = failure?.code ?? .finished
    outcome.message = failure?.sentence
    (outcome.start, outcome.end) = (attemptStart, attemptEnd)
    outcome.verifies = verifies
    return WriteOutFacts(outcome)
  }
}
