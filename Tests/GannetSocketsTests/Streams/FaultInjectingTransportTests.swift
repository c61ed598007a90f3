import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("FaultInjectingTransport") struct FaultInjectingTransportTests {
  /// What a reader that takes all it can at each announcement gets, announcement by announcement.
  static func read(
    _ bytes: String, ending: ReceiveOutcome? = .endOfFile, plan: FaultPlan
  ) -> (pieces: [String], last: ReceiveOutcome?) {
    var queue: [() -> Void] = []
    let base = ScriptedTransport(Array(bytes.utf8), ending: ending) { queue.append($0) }
    let transport = FaultInjectingTransport(wrapping: base, plan: plan) { queue.append($0) }
    var (pieces, last): ([String], ReceiveOutcome?) = ([], nil)
    transport.onReady = { [unowned transport] _ in
      let (received, outcome) = transport.receiveAll()
      pieces.append(String(decoding: received, as: UTF8.self))
      last = outcome
    }
    while !queue.isEmpty { queue.removeFirst()() }
    return (pieces, last)
  }

  @Test func withoutFaultsItIsWhatItWraps() {
    let (pieces, last) = Self.read("hello", plan: FaultPlan())
    #expect(pieces == ["hello"] && last == .endOfFile)
  }

  @Test(arguments: 0...5) func bytesAreCut(_ after: Int) {
    var plan = FaultPlan()
    plan.receiveEnds = (after, .endOfFile)
    let (pieces, last) = Self.read("hello", plan: plan)
    #expect(pieces.joined() == String("hello".prefix(after)) && last == .endOfFile)
    plan.receiveEnds = (after, .failure(errno: ECONNRESET))
    let (others, failure) = Self.read("hello", plan: plan)
    #expect(others.joined() == String("hello".prefix(after)) && failure == .failed(ECONNRESET))
    plan.receiveEnds = (after, .silence)
    let (heard, silence) = Self.read("hello", plan: plan)
    #expect(heard.joined() == String("hello".prefix(after)) && silence == .wouldBlock)
  }

  @Test func wouldBlocksAreAnnouncedAgain() {
    var plan = FaultPlan()
    plan.receiveSizes = [1, 0, 2, 0]
    let (pieces, last) = Self.read("abcdef", plan: plan)
    #expect(pieces == ["a", "bc", "d", "ef", ""] && last == .endOfFile)
  }

  @Test func sendsAreShortAndFail() {
    var queue: [() -> Void] = []
    let base = ScriptedTransport { queue.append($0) }
    var plan = FaultPlan()
    plan.sendSizes = [2, 0, 100]
    plan.sendFails = (7, EPIPE)
    let transport = FaultInjectingTransport(wrapping: base, plan: plan) { queue.append($0) }
    var rest = Array("0123456789".utf8)
    var outcomes: [SendOutcome] = []
    let push = { [unowned transport] in
      while let last = Optional(transport.send(rest.span)) {
        outcomes.append(last)
        guard case .sent(let count) = last else { break }
        rest.removeFirst(count)
      }
      transport.wantWrite(outcomes.last == .wouldBlock)
    }
    transport.onReady = { readiness in if readiness.contains(.writable) { push() } }
    push()
    while !queue.isEmpty { queue.removeFirst()() }
    #expect(outcomes == [.sent(2), .wouldBlock, .wouldBlock, .sent(5), .failed(EPIPE)])
    #expect(base.sent == Array("0123456".utf8))
  }

  @Test func overARealSocket() throws {
    let pair = try Pair()
    var plan = FaultPlan()
    plan.receiveSizes = [3, 0]
    plan.sendSizes = [4]
    let client = FaultInjectingTransport(wrapping: pair.client, plan: plan, on: pair.loop)
    let text = Array("the quick brown fox".utf8)
    var received: [UInt8] = []
    client.onReady = { [unowned client] _ in received += client.receiveAll().bytes }
    #expect(pair.server.send(text.span) == .sent(text.count))
    pair.loop.turns { received.count == text.count }
    #expect(received == text)
    client.close()
    #expect(pair.client.descriptorNumber == -1)
  }
}
