import GannetSockets

/// A recording: what is read is written, and read again the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  withInput(start, count) { bytes in
    guard let recording = try? RecordingParser.parse(bytes) else { return }
    let again = try? RecordingParser.parse(RecordingWriter.file(of: recording))
    require(again == recording, "what was written is not what was read")
  }
}
