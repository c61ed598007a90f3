package import Gannet
import GannetSockets

/// Sees to it that a load keeps what docs/CONTRACT.md promises (rules 2 to 5), and notes where it does not: callbacks on
/// the host and never inside one another nor inside `start()` or `cancel()`, in their order, one terminal, and nothing
/// after it or after a cancel, neither told nor sent; the delegate let go on the host.
///
/// It outlives the delegate that tells it, so that it can say what became of a load that is gone.
package final class LoadWatch: Sendable {
  /// What a delegate can be told or asked.
  package enum Call: String, Sendable, CaseIterable {
    case willSend, usesStorage, challenge, didCancel, newBody, sent, informational, response, data, partEnd,
      trailers
    case willCache, metrics, finish, fail
  }

  /// What has been seen of the load.
  package struct Report: Sendable {
    /// The callbacks in order.
    package fileprivate(set) var calls: [Call] = []
    /// What was done to the load between them, and they themselves, in words.
    package fileprivate(set) var trace: [String] = []
    /// The promises that were not kept.
    package fileprivate(set) var faults: [String] = []
    /// The error it ended with.
    package fileprivate(set) var error: ConnectionError?
    /// Whether it was cancelled before its terminal callback.
    package fileprivate(set) var wasCancelled = false
    /// Whether another thread cancelled it: the one callback that was being entered may have been the terminal one.
    package fileprivate(set) var wasCancelledElsewhere = false
    /// Terminal callbacks.
    package var ends: Int { calls.count { $0 == .finish || $0 == .fail } }
    /// How many there may be of a load that is over.
    package var allowedEnds: ClosedRange<Int> {
      wasCancelled ? 0...0 : wasCancelledElsewhere ? 0...1 : 1...1
    }
  }

  /// How far the order of callbacks has come.
  fileprivate enum Stage { case asking, refusing, responded, trailed, storing, closing, ended }

  /// What forbids the next callback.
  fileprivate enum Cancel {
    case no
    /// `cancel()` has returned on the host.
    case onHost
    /// It has returned elsewhere: so many callbacks may still begin.
    case elsewhere(Int)
  }

  fileprivate struct State {
    var report = Report()
    var stage = Stage.asking
    var cancel = Cancel.no
    /// The callback that runs.
    var callback: Call?
    /// The call into the connection that runs on a thread.
    var performing: [Int: String] = [:]
  }

  private let state = Guarded(State())
  private let isOnHost: @Sendable () -> Bool

  /// Watches a load whose host is where `isOnHost` says so.
  package init(isOnHost: @escaping @Sendable () -> Bool) { self.isOnHost = isOnHost }

  /// What has been seen so far.
  package var report: Report { state.withLock { $0.report } }

  /// Notes something for a person who reads of a failure.
  package func note(_ line: String) { state.withLock { $0.report.trace.append(line) } }

  /// Notes a promise that was not kept.
  package func fault(_ line: String) { state.withLock { $0.report.faults.append(line) } }

  // MARK: What is done to the load

  /// Calls something of the connection's, during which no callback may come on this thread.
  package func perform(_ name: String, _ body: () -> Void) {
    let thread = TestThread.current
    state.withLock { state in
      state.report.trace.append(name)
      state.performing[thread] = name
    }
    body()
    state.withLock { $0.performing[thread] = nil }
  }

  /// Cancels the load on its host, or where the host waits until this has returned: nothing may come any more.
  package func cancel(_ connection: URLConnection, _ where: String = "cancel") {
    perform(`where`) { connection.cancel() }
    state.withLock { state in
      if state.stage != .ended { state.report.wasCancelled = true }
      state.cancel = .onHost
    }
  }

  /// Cancels the load from another thread while its host runs: the one callback that is being entered may come.
  package func cancelElsewhere(_ connection: URLConnection) {
    connection.cancel()
    state.withLock { state in
      state.report.trace.append("cancel elsewhere")
      if case .no = state.cancel {
        if state.stage != .ended { state.report.wasCancelledElsewhere = true }
        state.cancel = .elsewhere(1)
      }
    }
  }

  // MARK: What the delegate tells

  /// A callback begins. Gives its number, from 1.
  package func enter(_ call: Call, error: ConnectionError? = nil, isPart: Bool = false) -> Int {
    let (isHere, thread) = (isOnHost(), TestThread.current)
    return state.withLock { state in
      state.report.calls.append(call)
      state.report.trace.append(call.rawValue)
      if let error { state.report.error = error }
      if !isHere { state.fault("\(call) comes elsewhere than on the host") }
      if let outer = state.callback { state.fault("\(call) comes inside \(outer)") }
      if let outer = state.performing[thread] { state.fault("\(call) comes inside \(outer)") }
      state.callback = call
      state.checkCancel(call)
      state.advance(call, isPart: isPart)
      return state.report.calls.count
    }
  }

  /// A callback ends.
  package func leave() { state.withLock { $0.callback = nil } }

  /// The delegate is let go, on the host.
  package func letGo() {
    if !isOnHost() { fault("the delegate is let go elsewhere than on the host") }
  }

  /// Bytes are handed to a transport.
  package func sends(_ count: Int) {
    state.withLock { state in
      if case .onHost = state.cancel, count > 0 {
        state.fault("\(count) bytes are sent after cancel() had returned on the host")
      }
    }
  }
}

extension LoadWatch.State {
  fileprivate mutating func fault(_ line: String) { report.faults.append(line) }

  fileprivate mutating func checkCancel(_ call: LoadWatch.Call) {
    switch cancel {
    case .no: break
    case .onHost: fault("\(call) comes after cancel() had returned on the host")
    case .elsewhere(let left):
      if left == 0 { fault("\(call) is the second after cancel() had returned elsewhere") }
      cancel = .elsewhere(max(0, left - 1))
    }
  }

  /// The order of rule 4. Progress of the request's body may still come after a response that was early, and what the
  /// last part held back after the trailers.
  fileprivate mutating func advance(_ call: LoadWatch.Call, isPart: Bool) {
    let before = stage
    let isInOrder: Bool
    switch call {
    case .willSend, .usesStorage, .challenge, .newBody, .informational: isInOrder = stage == .asking
    case .didCancel:
      isInOrder = stage == .asking
      stage = .refusing
    case .sent: isInOrder = [.asking, .responded, .trailed].contains(stage)
    case .response:
      isInOrder = stage == (isPart ? .responded : .asking) || stage == .trailed && isPart
      if stage == .asking { stage = .responded }
    case .data, .partEnd: isInOrder = stage == .responded || stage == .trailed
    case .trailers:
      isInOrder = stage == .responded
      stage = .trailed
    case .willCache:
      isInOrder = stage == .responded || stage == .trailed
      stage = .storing
    case .metrics:
      isInOrder = stage != .closing && stage != .ended
      stage = .closing
    case .finish:
      isInOrder =
        [.responded, .trailed, .storing, .closing].contains(stage) && report.calls.contains(.response)
      stage = .ended
    case .fail:
      isInOrder = stage != .ended
      stage = .ended
    }
    if !isInOrder { fault("\(call) comes when \(before)") }
  }
}
