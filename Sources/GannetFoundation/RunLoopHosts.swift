import CoreFoundation
import Foundation
import Gannet
import GannetSockets

/// The event loops that live in run loops: one for each run loop and set of modes.
///
/// A version-1 source waits for the loop's epoll descriptor: on Linux a port is a descriptor.
enum RunLoopHosts {
  private struct Place: Hashable, Sendable {
    let runLoop: ObjectIdentifier
    let modes: Set<String>
  }

  private static let hosts = Guarded<[Place: LoopHost]>([:])

  /// The host of this run loop in these modes: the one there is, or a new one.
  static func host(in runLoop: RunLoop, _ modes: Set<String>) throws(SystemError) -> LoopHost {
    let place = Place(runLoop: ObjectIdentifier(runLoop), modes: modes)
    let result = hosts.withLock { hosts -> Result<LoopHost, SystemError> in
      if let host = hosts[place] { return .success(host) }
      return Result { () throws(SystemError) in
        let attachment = RunLoopAttachment(modes: place.modes)
        let host = try LoopHost(EventLoop(), isOfMainThread: runLoop === RunLoop.main) {
          attachment.attached(to: $0)
        }
        find(runLoop, modes, attachment, ThreadEnd { forget(place) })
        hosts[place] = host
        return host
      }
    }
    return try result.get()
  }

  /// The modes in which a host is heard in this run loop; none when it lives elsewhere.
  static func modes(of host: LoopHost?, in runLoop: RunLoop) -> Set<String> {
    guard let host else { return [] }
    return hosts.withLock { hosts in
      hosts.first { $0.value === host && $0.key.runLoop == ObjectIdentifier(runLoop) }?.key.modes ?? []
    }
  }

  private static func forget(_ place: Place) {
    hosts.withLock { $0.removeValue(forKey: place) }?.hostEnded()
  }

  /// Finds the Core Foundation run loop beneath a Foundation one. Only its own thread can ask for it, and a timer is
  /// what reaches a run loop that waits on another thread: `perform` does not wake it on Linux.
  private static func find(
    _ runLoop: RunLoop, _ modes: Set<String>, _ attachment: RunLoopAttachment, _ threadEnd: ThreadEnd
  ) {
    if runLoop === RunLoop.main {
      threadEnd.neverComes()
      return attachment.found(CFRunLoopGetMain())
    }
    if runLoop === RunLoop.current { return arrive(attachment, threadEnd) }
    let timer = Timer(timeInterval: 0, repeats: false) { [weak threadEnd] _ in
      if let threadEnd { arrive(attachment, threadEnd) }
    }
    let modes = modes.map { RunLoop.Mode($0) }
    for mode in modes { runLoop.add(timer, forMode: mode) }
    // A run loop that is let go without having run lets this go, and with it `threadEnd`; its timers it forgets.
    runLoop.perform(inModes: modes) { arrive(attachment, threadEnd) }
  }

  /// On the run loop's thread.
  private static func arrive(_ attachment: RunLoopAttachment, _ threadEnd: ThreadEnd) {
    guard threadEnd.isFirstArrival() else { return }
    // Foundation lets go of a thread's dictionary when the thread ends.
    let key = "gannet.run-loop-hosts"
    let ends = Thread.current.threadDictionary[key] as? [ThreadEnd] ?? []
    Thread.current.threadDictionary[key] = ends + [threadEnd]
    attachment.found(CFRunLoopGetCurrent())
  }
}

/// Says, when it is let go, that the thread that had it has ended.
private final class ThreadEnd: Sendable {
  private enum State: Sendable { case onItsWay, there, never }
  private let state = Guarded(State.onItsWay)
  private let tell: @Sendable () -> Void

  init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

  deinit {
    if case .never = state.withLock({ $0 }) { return }
    tell()
  }

  /// The thread is the main one.
  func neverComes() { state.withLock { $0 = .never } }

  func isFirstArrival() -> Bool {
    state.withLock { state in
      guard case .onItsWay = state else { return false }
      state = .there
      return true
    }
  }
}

/// The source in a run loop, and an observer of its waits: a run loop that is run inside a callback is to be woken too,
/// and a loop in a turn wakes nobody unless it is told. Attached and detached from any thread; Core Foundation's run loops allow that.
private final class RunLoopAttachment: LoopAttachment {
  private let modes: Set<String>
  private let state = Guarded(State())

  // UNCHECKED: Core Foundation's run loops and sources are thread-safe, and what is here is under a Mutex.
  private struct State: @unchecked Sendable {
    var runLoop: CFRunLoop?
    var source: CFRunLoopSource?
    var observer: CFRunLoopObserver?
    var isWanted = false
  }

  /// `kCFStringEncodingUTF8`, which the module does not bring.
  private static let utf8: CFStringEncoding = 0x0800_0100

  init(modes: Set<String>) { self.modes = modes }

  /// The run loop is known.
  func found(_ runLoop: CFRunLoop) {
    state.withLock { state in
      state.runLoop = runLoop
      update(&state)
    }
  }

  func attached(to host: LoopHost) -> any LoopAttachment {
    state.withLock { state in
      if state.source == nil {
        state.source = RunLoopAttachment.makeSource(host)
        state.observer = RunLoopAttachment.makeObserver(host)
      }
      state.isWanted = true
      update(&state)
    }
    return self
  }

  func detach() {
    state.withLock { state in
      state.isWanted = false
      update(&state)
    }
  }

  private func update(_ state: inout State) {
    guard let runLoop = state.runLoop, let source = state.source, let observer = state.observer else {
      return
    }
    for mode in modes {
      // Core Foundation knows the common modes by the constant itself, not by its text.
      // SAFETY: the text is read within the call.
      let name =
        unsafe mode == RunLoop.Mode.common.rawValue
        ? kCFRunLoopCommonModes : CFStringCreateWithCString(nil, mode, RunLoopAttachment.utf8)
      if state.isWanted {
        CFRunLoopAddSource(runLoop, source, name)
        CFRunLoopAddObserver(runLoop, observer, name)
      } else {
        CFRunLoopRemoveSource(runLoop, source, name)
        CFRunLoopRemoveObserver(runLoop, observer, name)
      }
    }
    if state.isWanted { CFRunLoopWakeUp(runLoop) }
  }

  private static func makeSource(_ host: LoopHost) -> CFRunLoopSource? {
    // SAFETY: the host outlives its source: it is kept by its registry until its thread has ended, and the source is
    // removed then. Core Foundation calls back on the run loop's thread.
    var context = unsafe CFRunLoopSourceContext1()
    unsafe context.version = 1
    // UNCHECKED: a C callback needs a plain pointer.
    unsafe context.info = Unmanaged.passUnretained(host).toOpaque()
    unsafe context.getPort = { info in unsafe RunLoopAttachment.host(info)?.loop.descriptor ?? -1 }
    unsafe context.perform = { info in unsafe RunLoopAttachment.host(info)?.turn() }
    return unsafe withUnsafeMutablePointer(to: &context) { pointer in
      unsafe pointer.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) {
        unsafe CFRunLoopSourceCreate(nil, 0, $0)
      }
    }
  }

  private static func makeObserver(_ host: LoopHost) -> CFRunLoopObserver? {
    // SAFETY: as for the source.
    var context = unsafe CFRunLoopObserverContext()
    // UNCHECKED: a C callback needs a plain pointer.
    unsafe context.info = Unmanaged.passUnretained(host).toOpaque()
    return unsafe CFRunLoopObserverCreate(
      nil, CFRunLoopActivity.beforeWaiting.rawValue, true, 0,
      { _, _, info in unsafe RunLoopAttachment.host(info)?.loop.hostWaits() }, &context)
  }

  private static func host(_ info: UnsafeMutableRawPointer?) -> LoopHost? {
    // SAFETY: `info` is what `makeSource` put there. UNCHECKED: a C callback has a plain pointer.
    unsafe info.map { unsafe Unmanaged<LoopHost>.fromOpaque($0).takeUnretainedValue() }
  }
}
