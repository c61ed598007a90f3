import Gannet
package import GannetSockets
import GannetTLS

/// `gannet URL…`: makes the loads, runs them, and says how they ended.
package final class FetchCommand {
  private let options: FetchOptions
  private let loop: EventLoop
  private var configuration: URLConnection.Configuration
  private var recorder: TrafficRecorder?
  private var waiting: [FetchLoad] = []
  private var running: [FetchLoad] = []
  private var justEnded: [FetchLoad] = []
  private var limits: [ObjectIdentifier: LoopTimer] = [:]
  /// The failures of loads, by the place of each URL on the command line.
  private var failures: [Int: ToolError] = [:]
  private var display: ProgressDisplay?
  private let start = ContinuousClock.now
  private let writeOut: WriteOutFormat?

  /// Makes the loads; throws when one of them cannot be made from what was asked.
  package init(_ options: FetchOptions, on loop: EventLoop) throws(ToolError) {
    self.options = options
    self.loop = loop
    configuration = try options.configuration()
    writeOut = try options.readWriteOut()
    waiting = try makeLoads()
    try observe()
  }

  /// Runs all loads to their end. Throws the failure of the first URL that has one; all have been complained of.
  package func run() throws(ToolError) {
    if options.replayFile == nil, let request = waiting.first?.request {
      say(options.ignoredFields(of: request).map { "-H \($0): not sent as given: the body decides about it" })
    }
    showProgress()
    if options.hasFileForEach { while !waiting.isEmpty { startNext() } } else { startNext() }
    loop.run()
    display?.draw()
    do throws(SystemError) { try recorder?.finish() } catch {
      throw ToolError(.cannotWrite, "\(options.recordFile ?? ""): \(error.words)")
    }
    try options.writeCookies(of: configuration.cookieStorage)
    if let failure = failures.min(by: { $0.key < $1.key })?.value { throw ToolError(failure.code, "") }
  }

  // MARK: Making

  private func makeLoads() throws(ToolError) -> [FetchLoad] {
    let body = try options.readBody()
    let settings = FetchLoad.Settings(options, credential: try readCredential())
    var loads: [FetchLoad] = []
    for (index, url) in options.urls.enumerated() {
      let upload = index < options.uploads.count ? options.uploads[index] : nil
      let request = try options.request(for: url, body: body, upload: upload)
      // With events the load itself tells of it.
      if options.events == .none, let reason = request.unsendable { throw ToolError(.badUsage, reason) }
      let tag = options.urls.count > 1 ? String(index + 1) : nil
      loads.append(
        FetchLoad(
          request, index: index, tag: tag, settings: settings,
          output: BodyOutput(target(at: index), parts: placeOfParts(tag)),
          events: try makeEvents(tag),
          reconnection: options.firstReconnectWait.map { Reconnection(first: $0) }))
    }
    return loads
  }

  private func target(at index: Int) -> BodyOutput.Target {
    guard index < options.outputs.count else {
      return options.events == .none ? .standardOutput(isAsked: false) : .none
    }
    let file = options.outputs[index]
    return file == "-" ? .standardOutput(isAsked: true) : .file(file)
  }

  /// The parts of several loads go to folders of their own.
  private func placeOfParts(_ tag: String?) -> PartFiles.Place? {
    if let file = options.snapshotFile { return .file(file) }
    return options.partsDirectory.map { folder in .folder(tag.map { "\(folder)/\($0)" } ?? folder) }
  }

  private func readCredential() throws(ToolError) -> URLCredential? {
    guard let login = options.login else { return nil }
    var password = login.password
    if password == nil { password = PasswordPrompt.read("Password of \(login.user): ") }
    guard let password else {
      throw ToolError(.badUsage, "-u \(login.user): no password, and no terminal to ask for it")
    }
    return URLCredential(user: login.user, password: password, persistence: .none)
  }

  private func makeEvents(_ tag: String?) throws(ToolError) -> EventLog? {
    guard options.events != .none else { return nil }
    let write = { [weak self] (line: String) -> Void in
      do throws(SystemError) { try OutputFile.standardOutput.write(line + "\n") } catch {
        self?.cannotShowEvents(error)
      }
    }
    do throws(TLSError) {
      return try EventLog(
        tag: tag, includesBodies: options.events == .callbacksWithBodies,
        mergesData: options.replayFile != nil,
        write: write)
    } catch { throw ToolError(.tlsFailed, "\(error)") }
  }

  /// Whoever reads the events has gone: nothing is left to do.
  private func cannotShowEvents(_ error: SystemError) {
    for load in running { load.stop(ToolError(.cannotWrite, "standard output: \(error.words)")) }
  }

  private func observe() throws(ToolError) {
    var observers: [any TrafficObserver] = []
    if options.isVerbose {
      observers.append(TrafficTrace(marksLines: options.hasFileForEach && options.urls.count > 1))
    }
    if let path = options.recordFile, let load = waiting.first {
      // A URL that cannot be loaded leaves an earlier recording as it is.
      guard URLConnection.canHandle(load.request) else {
        throw ToolError(unloadable: load.request.urlString)
      }
      let via = options.unixSocket.map { "unix \($0)" }
      recorder = try ToolError.writing(path) { () throws(SystemError) in
        try TrafficRecorder(
          try options.recordedLoad(load.request),
          to: path == "-" ? .standardOutput : try OutputFile(creating: path), via: via,
          keepsSecrets: options.recordsSecrets)
      }
    }
    if let recorder { observers.append(recorder) }
    if !observers.isEmpty { configuration.trafficObserver = TrafficObservers(observers) }
  }

  /// Plays this recording in place of the network.
  func replay(_ recording: Recording) {
    configuration.transportProvider = ReplayProvider(recording.endingWhatIsUnfinished, cuts: .asRecorded)
  }

  // MARK: Running

  private func startNext() {
    guard !waiting.isEmpty else { return }
    let load = waiting.removeFirst()
    running.append(load)
    if options.isVerbose { OutputFile.complain("* \(load.announcement)") }
    if let limit = options.maxTime {
      let timer = loop.makeTimer { [weak load, loop] _ in load?.timedOut(after: limit, on: loop) }
      timer.schedule(at: loop.now + limit)
      limits[ObjectIdentifier(load)] = timer
    }
    load.onRetry = { [weak self] message in self?.say([message]) }
    load.start(configuration, on: loop) { [weak self] load in self?.ended(load) }
  }

  private func ended(_ load: FetchLoad) {
    running.removeAll { $0 === load }
    justEnded.append(load)
    limits[ObjectIdentifier(load)] = nil
    var messages = load.note.map { [$0] } ?? []
    if let failure = load.failure {
      failures[load.index] = failure
      messages.append(failure.sentence)
      if failure.code == .cannotWrite { waiting = [] }
    }
    say(messages)
    writeOut(load)
    startNext()
  }

  /// Prints what `-w` asks for.
  private func writeOut(_ load: FetchLoad) {
    guard let writeOut else { return }
    for (text, toStandardError) in writeOut.printed(load.facts(verifies: !options.skipsVerification)) {
      let output = toStandardError ? OutputFile.standardError : .standardOutput
      do throws(SystemError) { try output.write(text) } catch {
        let name = toStandardError ? "standard error" : "standard output"
        let failure = ToolError(.cannotWrite, "\(name): \(error.words)")
        if failures[load.index] == nil { failures[load.index] = failure }
        return say([failure.sentence])
      }
    }
  }

  /// Tells of what happened to the loads, above the lines of those that run.
  private func say(_ messages: [String]) {
    let lines = options.saysErrors ? messages.map { "gannet: \($0.printable)" } : []
    if let display { return display.draw(saying: lines) }
    for line in lines { OutputFile.complain(line) }
  }

  // MARK: Progress

  private func showProgress() {
    let terminal = OutputFile.standardError
    guard terminal.canMoveCursor, !options.isSilent, options.events == .none, !options.isVerbose,
      !options.showsHeadOnly,
      !(waiting.contains { $0.writesToTerminal })
    else { return }
    display = ProgressDisplay(on: loop, terminal: terminal) { [unowned self] in
      let columns = terminal.columns
      let ended = justEnded.map { line(of: $0, columns) }
      justEnded = []
      return (ended, running.map { line(of: $0, columns) })
    }
  }

  private func line(of load: FetchLoad, _ columns: Int) -> String {
    let elapsed = (ContinuousClock.now - start).components
    let label = load.tag.map { "[\($0)] \(name(at: load.index))  " } ?? ""
    return load.progressLine(
      label: label, at: Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18, columns: columns)
  }

  /// What a load is called beside its number: its file, or its URL.
  private func name(at index: Int) -> String {
    var name = index < options.outputs.count ? options.outputs[index] : "-"
    if name == "-" { name = options.urls[index] }
    return ProgressMeter.shortName(name)
  }
}
