#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Why a host has no address.
package struct ResolveFailure: Error, Hashable, Sendable {
  /// What `getaddrinfo` returned (`EAI_NONAME`, `EAI_AGAIN`, …).
  package let code: CInt
  /// The errno beneath it, when the code is `EAI_SYSTEM`.
  package let errno: CInt?

  package init(code: CInt, errno: CInt? = nil) {
    self.code = code
    self.errno = errno
  }

  /// The C library's words.
  package var words: String {
    if let errno { return SystemError.words(for: errno) }
    return Resolver.words(for: code)
  }
}

/// Finds the addresses of host names, off the loop.
///
/// `getaddrinfo` blocks and can't be interrupted, so it runs on a few background threads, made when there is a question
/// and ended when there is none. A question whose lookup is cancelled is taken back, or, when a thread has it already,
/// its answer is ignored.
package final class Resolver: Sendable {
  package typealias Answer = Result<[SocketAddress], ResolveFailure>

  /// The process's resolver: at most four questions at a time, the others wait.
  package static let shared = Resolver()

  private struct Question: Sendable {
    let id: UInt64
    let host: String
    let port: UInt16
    let asker: EventLoop.Handle
  }

  private struct State {
    var waiting: [Question] = []
    var threads = 0
    var nextID: UInt64 = 0
  }

  private let state = Guarded(State())
  private let threadLimit: Int
  private let ask: @Sendable (String, UInt16) -> Answer

  /// - Parameters:
  ///   - threadLimit: how many questions are asked at a time.
  ///   - ask: the blocking question, run on a background thread.
  package init(
    threadLimit: Int = 4, ask: @escaping @Sendable (String, UInt16) -> Answer = Resolver.askSystem
  ) {
    self.threadLimit = threadLimit
    self.ask = ask
  }

  /// What needs no question: a numeric host, and names that can't be looked up: the empty one, one with a NUL, and
  /// those in `.invalid` (RFC 6761 section 6.4). Nil for all others.
  package static func immediateAnswer(_ host: String, port: UInt16) -> Answer? {
    if let address = SocketAddress(numericHost: host, port: port) { return .success([address]) }
    var name = host.lowercased()[...]
    if name.last == "." { name.removeLast() }
    guard !name.isEmpty, !name.utf8.contains(0), name != "invalid", !name.hasSuffix(".invalid") else {
      return .failure(ResolveFailure(code: CInt(EAI_NONAME)))
    }
    return nil
  }

  /// Looks a host up; the answer comes in a later turn of the loop, or never when the lookup is cancelled.
  package func resolve(
    _ host: String, port: UInt16, on loop: EventLoop, _ completion: @escaping (Answer, EventLoop) -> Void
  ) -> Lookup {
    let answer = Resolver.immediateAnswer(host, port: port)
    let (id, needsThread) = state.withLock { state in
      state.nextID += 1
      guard answer == nil else { return (state.nextID, false) }
      state.waiting.append(Question(id: state.nextID, host: host, port: port, asker: loop.handle))
      let needsThread = state.threads < threadLimit
      if needsThread { state.threads += 1 }
      return (state.nextID, needsThread)
    }
    let lookup = Lookup(id: id, resolver: self, pending: loop.lookups)
    loop.lookups.insert(id, completion)
    if let answer {
      loop.perform { $0.lookups.finish(id, answer, on: $0) }
    } else if needsThread {
      startThread()
    }
    return lookup
  }

  fileprivate func takeBack(_ id: UInt64) {
    state.withLock { state in state.waiting.removeAll { $0.id == id } }
  }

  private func startThread() {
    do throws(SystemError) {
      // Name service modules want more stack than musl gives a thread.
      try startBackgroundThread(stackBytes: 512 << 10) { self.answerQuestions() }
    } catch {
      // Without any thread nobody would answer what waits.
      let unanswered = state.withLock { state in
        state.threads -= 1
        guard state.threads == 0 else { return [Question]() }
        defer { state.waiting = [] }
        return state.waiting
      }
      for question in unanswered {
        reply(to: question, .failure(ResolveFailure(code: CInt(EAI_SYSTEM), errno: error.errno)))
      }
    }
  }

  private func answerQuestions() {
    while let questions = nextQuestions(), let first = questions.first {
      let answer = ask(first.host, first.port)
      for question in questions { reply(to: question, answer) }
    }
  }

  /// The first question that waits, and all others that ask the same; nil: this thread ends.
  private func nextQuestions() -> [Question]? {
    state.withLock { state in
      guard let first = state.waiting.first else {
        state.threads -= 1
        return nil
      }
      let same = { (other: Question) in other.host == first.host && other.port == first.port }
      defer { state.waiting.removeAll(where: same) }
      return state.waiting.filter(same)
    }
  }

  private func reply(to question: Question, _ answer: Answer) {
    let id = question.id
    question.asker.post { $0.lookups.finish(id, answer, on: $0) }
  }
}

/// A question that has been asked.
package final class Lookup {
  private let id: UInt64
  private let resolver: Resolver
  private let pending: PendingLookups

  fileprivate init(id: UInt64, resolver: Resolver, pending: PendingLookups) {
    self.id = id
    self.resolver = resolver
    self.pending = pending
  }

  /// Its answer doesn't come any more. On the loop's thread.
  package func cancel() {
    if pending.remove(id) { resolver.takeBack(id) }
  }
}

/// Who waits for answers on a loop: what crosses threads is a number.
final class PendingLookups {
  private var completions: [UInt64: (Resolver.Answer, EventLoop) -> Void] = [:]

  func insert(_ id: UInt64, _ completion: @escaping (Resolver.Answer, EventLoop) -> Void) {
    completions[id] = completion
  }

  func remove(_ id: UInt64) -> Bool {
    completions.removeValue(forKey: id) != nil
  }

  func removeAll() {
    completions = [:]
  }

  func finish(_ id: UInt64, _ answer: Resolver.Answer, on loop: EventLoop) {
    completions.removeValue(forKey: id)?(answer, loop)
  }
}
