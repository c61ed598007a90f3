#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What goes wrong with a stream, and when.
package struct FaultPlan: Hashable, Sendable {
  /// How a direction ends before its time.
  package enum Ending: Hashable, Sendable {
    /// As if the peer had closed.
    case endOfFile
    /// As if the peer, or the path, had reset the connection.
    case failure(errno: CInt)
    /// As if nothing more ever came.
    case silence
  }

  /// After so many received bytes.
  package var receiveEnds: (after: Int, Ending)? {
    get { receiveLimit.map { ($0, receiveEnding) } }
    set { (receiveLimit, receiveEnding) = (newValue?.after, newValue?.1 ?? .endOfFile) }
  }
  private var receiveLimit: Int?
  private var receiveEnding: Ending = .endOfFile

  /// After so many sent bytes, sending fails with this errno.
  package var sendFails: (after: Int, errno: CInt)? {
    get { sendLimit.map { ($0, sendErrno) } }
    set { (sendLimit, sendErrno) = (newValue?.after, newValue?.errno ?? EPIPE) }
  }
  private var sendLimit: Int?
  private var sendErrno: CInt = EPIPE

  /// The most bytes that each receive gives, repeated from the front; 0: it would block once. Empty: as they come.
  package var receiveSizes: [Int] = []
  /// The most bytes that each send takes, repeated from the front; 0: it would block once. Empty: as there is room.
  package var sendSizes: [Int] = []

  package init() {}
}

/// A transport that does to another one what a bad network does. For tests of the layers above.
package final class FaultInjectingTransport: StreamTransport {
  private let base: any StreamTransport
  private let plan: FaultPlan
  private let later: (@escaping () -> Void) -> Void

  private var received = 0
  private var receives = 0
  private var sent = 0
  private var sends = 0
  /// A would-block was made up: what says that it is over is still to come.
  private var owesReadable = false
  private var isFull = false
  private var isRoomComing = false
  private var isReadingPaused = false
  private var wantsWrite = false
  private var isClosed = false

  /// - Parameter later: runs its argument in a later turn of the loop that the transport is on.
  package init(
    wrapping base: any StreamTransport, plan: FaultPlan, later: @escaping (@escaping () -> Void) -> Void
  ) {
    self.base = base
    self.plan = plan
    self.later = later
  }

  package convenience init(wrapping base: any StreamTransport, plan: FaultPlan, on loop: EventLoop) {
    self.init(wrapping: base, plan: plan) { [weak loop] job in loop?.perform { _ in job() } }
  }

  package var onReady: ((Readiness) -> Void)? {
    get { base.onReady }
    set { base.onReady = newValue }
  }

  package func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome {
    guard !isClosed else { return base.receive(into: &buffer) }
    guard !owesReadable else { return .wouldBlock }
    var room = buffer.count
    if let (limit, ending) = plan.receiveEnds {
      guard received < limit else {
        switch ending {
        case .endOfFile: return .endOfFile
        case .failure(let errno): return .failed(errno)
        case .silence: return .wouldBlock
        }
      }
      room = min(room, limit - received)
    }
    if !plan.receiveSizes.isEmpty {
      let size = plan.receiveSizes[receives % plan.receiveSizes.count]
      receives += 1
      guard size > 0 else {
        owesReadable = true
        announceReadable()
        return .wouldBlock
      }
      room = min(room, size)
    }
    var scratch = [UInt8](repeating: 0, count: room)
    var part = scratch.mutableSpan
    let outcome = base.receive(into: &part)
    if case .bytes(let count) = outcome {
      for index in 0..<count { buffer[index] = scratch[index] }
      received += count
    }
    return outcome
  }

  package func send(_ bytes: Span<UInt8>) -> SendOutcome {
    guard !isClosed else { return base.send(bytes) }
    guard !isFull else { return .wouldBlock }
    var room = bytes.count
    if let (limit, errno) = plan.sendFails {
      guard sent < limit else { return .failed(errno) }
      room = min(room, limit - sent)
    }
    var isCutShort = false
    if !plan.sendSizes.isEmpty {
      let size = plan.sendSizes[sends % plan.sendSizes.count]
      sends += 1
      isCutShort = size < room
      room = min(room, size)
    }
    isFull = isCutShort
    guard room > 0 || bytes.isEmpty else { return .wouldBlock }
    let outcome = base.send(bytes.extracting(first: room))
    if case .sent(let count) = outcome { sent += count }
    return outcome
  }

  package func wantWrite(_ wanted: Bool) {
    wantsWrite = wanted
    base.wantWrite(wanted && !isFull)
    if wanted, isFull { announceRoom() }
  }

  package func pauseReading(_ paused: Bool) {
    isReadingPaused = paused
    base.pauseReading(paused)
    if !paused, owesReadable { announceReadable() }
  }

  package func lookAgain() { base.lookAgain() }

  package func finishWriting() {
    base.finishWriting()
  }

  package func close() {
    isClosed = true
    base.close()
  }

  private func announceReadable() {
    later { [weak self] in
      guard let self, !isClosed, owesReadable, !isReadingPaused else { return }
      owesReadable = false
      onReady?(.readable)
    }
  }

  private func announceRoom() {
    guard !isRoomComing else { return }
    isRoomComing = true
    later { [weak self] in
      guard let self else { return }
      isRoomComing = false
      guard !isClosed, isFull, wantsWrite else { return }
      isFull = false
      onReady?(.writable)
    }
  }
}
