import GannetSockets

/// Why a command ends without having done what it should: the sentence for standard error, and the exit status.
package struct ToolError: Error {
  /// The exit status.
  package let code: ExitCode
  /// What is said on standard error; empty when it has been said.
  package let sentence: String

  /// Makes an error.
  package init(_ code: ExitCode, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  /// Does what writes to the file or stream with this name.
  static func writing<Result>(
    _ name: String, _ body: () throws(SystemError) -> Result
  ) throws(ToolError) -> Result {
    do throws(SystemError) { return try body() } catch {
      throw ToolError(.cannotWrite, "\(name): \(error.words)")
    }
  }

  /// Does what reads the file with this name.
  static func reading<Result>(
    _ name: String, _ body: () throws(SystemError) -> Result
  ) throws(ToolError) -> Result {
    do throws(SystemError) { return try body() } catch {
      throw ToolError(.cannotRead, "\(name): \(error.words)")
    }
  }
}

extension Recording {
  /// Reads a `.wire` file.
  init(file: String) throws(ToolError) {
    let bytes = try ToolError.reading(file) { () throws(SystemError) in try InputFile.read(file) }
    do throws(RecordingError) { self = try RecordingParser.parse(bytes) } catch {
      throw ToolError(.cannotRead, "\(file): \(error)")
    }
  }
}
