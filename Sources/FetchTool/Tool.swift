import GannetSockets

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Chooses the command and runs it.
enum Tool {
  /// Runs the command line after the program's name.
  static func run(_ words: [String]) -> ExitCode {
    // A closed pipe is an error of the write that meets it, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    do throws(ToolError) {
      try dispatch(words)
      return .finished
    } catch {
      if !error.sentence.isEmpty { OutputFile.complain("gannet: " + error.sentence) }
      return error.code
    }
  }

  private static func dispatch(_ words: [String]) throws(ToolError) {
    switch words.first {
    case "serve": try serve(Array(words.dropFirst()))
    default: try fetch(words)
    }
  }

  private static func fetch(_ words: [String]) throws(ToolError) {
    var options: FetchOptions
    do throws(ArgumentError) {
      options = try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    } catch { throw ToolError(.badUsage, error.sentence) }
    guard let file = options.replayFile else {
      return try FetchCommand(options, on: EventLoop.current).run()
    }
    let recording = try Recording(file: file)
    try options.load(recording.load)
    let command = try FetchCommand(options, on: EventLoop.current)
    command.replay(recording)
    try command.run()
  }

  private static func serve(_ words: [String]) throws(ToolError) {
    let command: ServeCommand
    do throws(ArgumentError) {
      command = try ServeCommand(arguments: ArgumentParser(flags: ServeCommand.flags).parse(words))
    } catch { throw ToolError(.badUsage, error.sentence) }
    try command.run()
  }
}
