import GannetSockets

/// A recording: what is read and written is read again, and written again the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard let recording = try? RecordingParser.parse(bytes) else { return }
    // Line ends within a line's text are not kept, so the first writing may change something.
    let written = RecordingWriter.file(of: recording)
    guard let again = try? RecordingParser.parse(written) else {
      return require(false, "what was written cannot be read")
    }
    require(RecordingWriter.file(of: again) == written, "what was written is not what was read")
  }
}
