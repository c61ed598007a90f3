import Gannet
import GannetSockets

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Chooses the command and runs it.
enum Tool {
  /// Runs the command line after the program's name. Gives the exit status.
  static func run(_ words: [String]) -> Int32 {
    OutputFile.reserveStandardStreams()
    // A closed pipe is an error of the write that meets it, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    do throws(ToolError) {
      return try dispatch(words)
    } catch {
      // What failed in a load has been complained of already.
      if !error.sentence.isEmpty { OutputFile.complain("gannet: " + error.sentence) }
      return error.code.rawValue
    }
  }

  private static func dispatch(_ words: [String]) throws(ToolError) -> Int32 {
    let rest = Array(words.dropFirst())
    switch words.first {
    case "parse": return ParseCommand.run(rest)
    case "serve": try serve(rest)
    case "demo": return try demo(rest)
    case "help": try help(rest)
    default: try fetch(words)
    }
    return ExitCode.finished.rawValue
  }

  private static func show(_ text: String) throws(ToolError) {
    try ToolError.writing("standard output") { () throws(SystemError) in
      try OutputFile.standardOutput.write(text)
    }
  }

  private static func help(_ words: [String]) throws(ToolError) {
    switch words.first {
    case nil: try show(HelpText.fetch)
    case "parse": try show(ParseCommand.help + "\n")
    case "serve": try show(HelpText.serve)
    case "demo": try show(HelpText.demo)
    case let other: throw ToolError(.badUsage, "there is no command \(other ?? ""); see gannet help")
    }
  }

  /// Reads a command line; nil when it asked for help or the version, which has been shown.
  private static func arguments(
    _ words: [String], _ flags: [Flag], of command: String, help: String
  ) throws(ToolError) -> [Argument]? {
    let common = [Flag("help", "h"), Flag("version", "V")]
    let arguments = try usage(of: command) { () throws(ArgumentError) in
      try ArgumentParser(flags: flags + common).parse(words)
    }
    if arguments.contains(.flag("help", nil)) {
      try show(help)
    } else if arguments.contains(.flag("version", nil)) {
      try show("gannet \(GannetVersion.current)\n")
    } else {
      return arguments
    }
    return nil
  }

  private static func usage<Result>(
    of command: String, _ body: () throws(ArgumentError) -> Result
  ) throws(ToolError) -> Result {
    do throws(ArgumentError) { return try body() } catch {
      throw ToolError(.badUsage, "\(error.sentence); see \(command) --help")
    }
  }

  private static func fetch(_ words: [String]) throws(ToolError) {
    guard let arguments = try arguments(words, FetchOptions.flags, of: "gannet", help: HelpText.fetch) else {
      return
    }
    var options = try usage(of: "gannet") { () throws(ArgumentError) in try FetchOptions(arguments: arguments)
    }
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
    guard
      let arguments = try arguments(words, ServeCommand.flags, of: "gannet serve", help: HelpText.serve)
    else { return }
    let command = try usage(of: "gannet serve") { () throws(ArgumentError) in
      try ServeCommand(arguments: arguments)
    }
    try command.run()
  }

  private static func demo(_ words: [String]) throws(ToolError) -> Int32 {
    guard let arguments = try arguments(words, [], of: "gannet demo", help: HelpText.demo) else { return 0 }
    guard arguments.isEmpty else {
      throw ToolError(.badUsage, "gannet demo takes no arguments; see gannet demo --help")
    }
    return try DemoCommand(on: EventLoop.current).run()
  }
}
