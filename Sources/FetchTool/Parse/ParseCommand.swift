import GannetSockets

/// `gannet parse`: the wire layers alone, over bytes from standard input.
package enum ParseCommand {
  package static let help = """
    usage: gannet parse [flags] < bytes

    Reads what a server sent on one connection and prints what it is, one line of JSON for each event:
    informational, head, part, body, trailers, end, unexpected (bytes that answer nothing), error.

      --method METHOD  the method of the request that is answered; may be repeated, the last one stands
                       for all that follow (default GET)
      --cut N          hand the input over in pieces of N bytes
      --cut every      hand it over whole, then in two pieces, cut at every place (past 4 KiB: at every place
                       near heads, chunk lines and delimiters, and at some others), and print the events once,
                       or {"event":"mismatch","cut":N} for the first cut that changes them
      --eof            the connection ends with the input (the default)
      --no-eof         it stays open
      --decode         undo content codings
      -h, --help       this text

    exit status: 0, 1 after an error or a mismatch, 2 for a wrong command line, 23 when the output cannot be
    written, 26 when the input cannot be read
    """

  /// Runs the command with the words after `parse`. Returns the exit status.
  package static func run(_ arguments: [String]) -> Int32 {
    let options: ParseOptions
    do throws(ArgumentError) {
      guard let read = try ParseOptions.read(arguments) else { return put(help + "\n", then: 0) }
      options = read
    } catch {
      OutputFile.complain("gannet: \(error.sentence); see gannet parse --help")
      return ExitCode.badUsage.rawValue
    }
    let input: [UInt8]
    do throws(SystemError) { input = try InputFile.read("-") } catch {
      OutputFile.complain("gannet: standard input: \(error.words)")
      return ExitCode.cannotRead.rawValue
    }
    let events = events(of: input, options)
    return put(events.map { $0.line.text + "\n" }.joined(), then: events.contains(where: \.isFailure) ? 1 : 0)
  }

  private static func put(_ text: String, then status: Int32) -> Int32 {
    do throws(SystemError) { try OutputFile.standardOutput.write(text) } catch {
      OutputFile.complain("gannet: standard output: \(error.words)")
      return ExitCode.cannotWrite.rawValue
    }
    return status
  }

  /// What comes of `input`: the events, or the first cut that changes them.
  package static func events(of input: [UInt8], _ options: ParseOptions) -> [ParseEvent] {
    switch options.cut {
    case .whole: return run(input, pieces: [input[...]], options).events
    case .pieces(let length):
      let starts = stride(from: 0, to: input.count, by: length)
      return run(input, pieces: starts.map { input[$0..<min(input.count, $0 + length)] }, options).events
    case .every:
      let whole = run(input, pieces: [input[...]], options)
      for cut in ParseCuts.places(input.count, data: whole.data)
      where run(input, pieces: [input[..<cut], input[cut...]], options).events != whole.events {
        return [.mismatch(cut: cut)]
      }
      return whole.events
    }
  }

  private static func run(
    _ input: [UInt8], pieces: [ArraySlice<UInt8>], _ options: ParseOptions
  ) -> (events: [ParseEvent], data: [Range<Int>]) {
    var session = ParseSession(methods: options.methods, decodes: options.decodes)
    for piece in pieces { session.receive(piece) }
    let data = session.dataRanges
    return (session.finish(endOfFile: options.endsWithInput), data)
  }
}
