import FoundationEssentials
import GannetPolicy
import GannetSockets
import Synchronization

/// Carries out a load that a protocol class answers, beside `LoadDriver`: hears what the protocol says, lets its machine
/// decide whether that counts, and tells the delegate.
///
/// Lives on one loop. Before each callback it looks whether the load was cancelled or paused, and a callback never runs
/// inside another.
final class ProtocolLoad {
  let connection: URLConnection
  private let client: LoopClient
  private var machine: ProtocolMachine
  private var request: URLRequest
  private var delegate: (any URLConnectionDelegate)?
  private var dataDelegate: (any URLConnectionDataDelegate)?
  private let metrics: URLConnectionMetrics?

  /// Who answers now, and what it says.
  private var answering: (urlProtocol: URLProtocol, mailbox: ProtocolMailbox)?
  private var isTelling = false
  private var hasResponse = false
  private var lastActivity: LoopTime

  init(_ start: LoadStart, on client: LoopClient) {
    connection = start.connection
    self.client = client
    request = start.request
    delegate = start.delegate
    dataDelegate = start.delegate as? any URLConnectionDataDelegate
    let configuration = start.connection.configuration
    metrics = start.metrics ?? (configuration.collectsMetrics ? URLConnectionMetrics() : nil)
    machine = ProtocolMachine(
      maximumRedirects: max(0, configuration.maximumRedirects), redirects: start.redirects)
    lastActivity = client.loop.time
  }

  private var isCancelled: Bool { connection.isCancelled.load(ordering: .acquiring) }
  private var isPaused: Bool { connection.isPaused.load(ordering: .acquiring) }
  private var url: String { request.safeURLString }
  var phase: ConnectionError.Phase { hasResponse ? .receiving : .awaiting }

  /// Begins, with the class that takes the request. `isFirst` asks the delegate where the class has another form of it.
  func start(_ type: URLProtocol.Type, isFirst: Bool) {
    touched()
    if isFirst, connection.configuration.isDownload {
      telling { (dataDelegate as? any DownloadLoadDelegate)?.connectionDidBegin(connection) }
      guard !isCancelled else { return }
    }
    let canonical = type.canonicalRequest(for: request)
    guard isFirst, canonical != request else { return begin(type, canonical) }
    telling {
      guard let answer = ask(canonical, nil) else {
        if isCancelled { return }
        return fail(
          ConnectionError(
            .redirectToNonExistentLocation, phase: .preparing, url: url,
            reason: "the delegate refused the canonical form of the request"))
      }
      connection.setCurrentRequest(answer)
      if answer == canonical { return begin(type, answer) }
      goOn(with: answer, isRedirect: false)
    }
    // What the class said while it ran the loop was not to be told then.
    tell()
  }

  private func begin(_ type: URLProtocol.Type, _ request: URLRequest) {
    guard !isCancelled, !machine.hasEnded else { return }
    self.request = request
    let mailbox = ProtocolMailbox(connection, host: client.loop.handle)
    let urlProtocol = type.init(request: request, client: mailbox)
    answering = (urlProtocol, mailbox)
    urlProtocol.startLoading()
  }

  private func ask(_ proposal: URLRequest, _ response: URLResponse?) -> URLRequest? {
    guard let dataDelegate else { return proposal }
    return dataDelegate.connection(connection, willSend: proposal, redirectResponse: response)
  }

  /// Loads what the delegate wants in place of the request: with another protocol, or on the network.
  private func goOn(with answer: URLRequest, isRedirect: Bool) {
    guard !isCancelled else { return }
    do throws(ConnectionError) {
      let target = try answer.target(connection.configuration, isRedirect: isRedirect)
      request = answer
      switch target {
      case .custom(let type): start(type, isFirst: false)
      case .network:
        machine.ended()
        let start = LoadStart(
          connection: connection, delegate: delegate, request: answer, redirects: machine.redirects,
          metrics: metrics, isFirst: false)
        (delegate, dataDelegate) = (nil, nil)
        client.takeOver(start, target)
      }
    } catch { fail(error) }
  }

  // MARK: What the protocol says

  /// Something is in this mailbox.
  func received(by mailbox: ProtocolMailbox) {
    if answering?.mailbox === mailbox { tell() }
  }

  /// Tells the delegate what has been said, until it pauses or cancels.
  private func tell() {
    guard !isTelling else { return }
    telling {
      while !isCancelled, !isPaused, let (urlProtocol, mailbox) = answering,
        let (message, letsGoOn) = mailbox.take()
      {
        if let message {
          touched()
          perform(message)
        }
        if letsGoOn, answering?.mailbox === mailbox { urlProtocol.resumeLoading() }
      }
    }
  }

  private func telling(_ body: () -> Void) {
    let outer = isTelling
    isTelling = true
    body()
    isTelling = outer
  }

  private func perform(_ message: ProtocolMailbox.Message) {
    switch machine.said(message.word) {
    case .ignore: return
    case .fail(let breach): return fail(error(for: breach))
    case .pass: break
    }
    switch message {
    case .redirect(let proposal, let response): redirect(to: proposal, response)
    case .challenge(let challenge):
      guard let delegate else {
        challenge.sender?.performDefaultHandling(for: challenge)
        return
      }
      delegate.connection(connection, willSendRequestFor: challenge)
    case .challengeCancelled(let challenge): delegate?.connection(connection, didCancel: challenge)
    case .response(let response):
      hasResponse = true
      dataDelegate?.connection(connection, didReceive: response)
    case .data(let data): dataDelegate?.connection(connection, didReceive: data)
    case .finish: finish { $0?.connectionDidFinishLoading(connection) }
    case .failure(let failure):
      fail(ConnectionError(failure, of: answering?.urlProtocol, phase: phase, url: url))
    }
  }

  private func redirect(to proposal: URLRequest, _ response: URLResponse) {
    stopAnswering()
    var proposal = proposal
    do throws(ConnectionError) {
      let target = try proposal.target(connection.configuration, isRedirect: true)
      if case .network(let address) = target {
        proposal = proposal.showingCookies(of: connection.configuration.cookieStorage, for: address)
      }
    } catch {
      return fail(error)
    }
    let answer = ask(proposal, response)
    guard !isCancelled else { return }
    if let answer {
      machine.followed()
      connection.setCurrentRequest(answer)
      return goOn(with: answer, isRedirect: true)
    }
    if connection.configuration.refusedRedirect == .fail {
      return fail(
        ConnectionError(
          .redirectToNonExistentLocation, phase: .receiving, url: url,
          reason: "the delegate refused the redirect"))
    }
    dataDelegate?.connection(connection, didReceive: response)
    finish { $0?.connectionDidFinishLoading(connection) }
  }

  private func error(for breach: ProtocolMachine.Breach) -> ConnectionError {
    let reason: String
    switch breach {
    case .tooManyRedirects:
      return ConnectionError(.tooMany(limit: max(0, connection.configuration.maximumRedirects)), url: url)
    case .dataBeforeResponse: reason = "gave data before a response"
    case .endWithoutResponse: reason = "finished without a response"
    case .redirectAfterResponse: reason = "was redirected after its response"
    case .challengeAfterResponse: reason = "gave a challenge after its response"
    }
    let name = answering.map { "\(type(of: $0.urlProtocol))" } ?? ""
    return ConnectionError(
      .badServerResponse, phase: phase, url: url, reason: "the protocol class \(name) \(reason)")
  }

  // MARK: Pause, time-out, end

  func resume() {
    touched()
    tell()
  }

  private func touched() {
    lastActivity = client.loop.time
    if let limit = request.inactivityLimit { client.watchInactivity(until: lastActivity.advanced(by: limit)) }
  }

  /// Fails the load when its protocol has said nothing for too long; otherwise returns when to look again. The clock
  /// stands while the load is paused, tells its delegate or waits for a credential.
  func checkInactivity() -> LoopTime? {
    guard let limit = request.inactivityLimit, !machine.hasEnded, !isCancelled else { return nil }
    if isPaused || isTelling || machine.awaitsCredential { lastActivity = client.loop.time }
    let deadline = lastActivity.advanced(by: limit)
    guard client.loop.time >= deadline else { return deadline }
    fail(
      ConnectionError(
        .timedOut, phase: phase, url: url,
        reason: "nothing came for \(request.timeoutInterval) seconds while \(phase.rawValue)"))
    return nil
  }

  /// Ends the load without a word: it was cancelled.
  func cancel() {
    machine.ended()
    connection.ended()
    stopAnswering()
    letGo()
  }

  /// The loop has gone without a word: lets go of everything, and tells nobody.
  func drop() {
    machine.ended()
    answering?.mailbox.close()
    (answering, delegate, dataDelegate) = (nil, nil, nil)
  }

  /// The loop's thread has ended under the load.
  func hostEnded() {
    guard !isCancelled, !machine.hasEnded else { return cancel() }
    fail(
      ConnectionError(
        .networkConnectionLost, phase: phase, url: url,
        reason: "the thread of the load's event loop has ended"))
  }

  func fail(_ error: ConnectionError) {
    finish { _ in delegate?.connection(connection, didFailWithError: error) }
  }

  /// The terminal callback, and then nothing: the protocol is stopped before it, the delegate let go after it.
  private func finish(_ tell: ((any URLConnectionDataDelegate)?) -> Void) {
    machine.ended()
    connection.ended()
    stopAnswering()
    if !isCancelled, let metrics { dataDelegate?.connection(connection, didFinishCollecting: metrics) }
    if !isCancelled { tell(dataDelegate) }
    letGo()
  }

  private func letGo() {
    (delegate, dataDelegate) = (nil, nil)
    client.ended(self)
  }

  private func stopAnswering() {
    guard let (urlProtocol, mailbox) = answering else { return }
    answering = nil
    mailbox.close()
    urlProtocol.stopLoading()
  }
}

extension ConnectionError {
  /// What a protocol said that its load failed by.
  init(_ error: any Error, of urlProtocol: URLProtocol?, phase: Phase, url: String) {
    if let error = error as? ConnectionError {
      self = error
      return
    }
    // The standard library's bridge: Foundation's errors, which this module does not know, answer it with Cocoa's numbers.
    let code = error._domain == "NSURLErrorDomain" ? Code(rawValue: error._code) : nil
    let name = urlProtocol.map { "\(type(of: $0))" } ?? ""
    self.init(code ?? .unknown, phase: phase, url: url, reason: "the protocol class \(name) failed: \(error)")
  }
}
