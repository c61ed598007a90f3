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
    case nil:
      throw ToolError(.badUsage, "no URL given; `gannet help` says what it can do")
    case "serve": try serve(Array(words.dropFirst()))
    default: throw ToolError(.badUsage, "no")
    }
  }

  private static func serve(_ words: [String]) throws(ToolError) {
    let command: ServeCommand
    do throws(ArgumentError) {
      command = try ServeCommand(arguments: ArgumentParser(flags: ServeCommand.flags).parse(words))
    } catch { throw ToolError(.badUsage, error.sentence) }
    try command.run()
  }
}
