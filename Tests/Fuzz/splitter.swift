import GannetHTTP
import GannetMultipart

/// A multipart stream; the second byte chooses the boundary, the limits, and whether the bytes after it are the stream
/// or a list of the pieces that it is made of, so that the fuzzer's mutations of a valid stream are streams nearly valid.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    let boundaries: [String?] = [
      "B", "--B", nil, "--", "----", "B--", "-", "a\nb", "frame boundary", "--B--B",
    ]
    let boundary = boundaries[Int(bytes[1] & 15) % boundaries.count]
    var limits = Limits()
    if bytes[1] & 16 > 0 { limits.partDoubtBytes = 30 }
    if bytes[1] & 32 > 0 { limits.partHeadBytes = 40 }
    let stream = bytes[1] & 64 > 0 ? stream(of: bytes.dropFirst(2)) : Array(bytes.dropFirst(2))
    checkCuts(
      stream, choice: bytes[0],
      { MixedReplaceSplitter(boundary: boundary, limits: limits) }
    ) { splitter, input, trace throws(SyntaxError) in
      let (consumed, event) = try splitter.step(input)
      require(event != nil || consumed == input.count, "wants more, and left some")
      if case .data(let range) = event {
        require(range.upperBound <= consumed && !range.isEmpty, "data that was not consumed")
        trace.data.append(copying: input.extracting(range))
      } else if let event {
        note(event, in: &trace)
      }
      return (consumed, event != nil)
    } finish: { splitter, trace throws(SyntaxError) in
      if let event = splitter.inputPaused() { note(event, in: &trace) }
      while let event = try splitter.receivedEndOfFile() { note(event, in: &trace) }
    }
  }
}

private func note(_ event: MixedReplaceSplitter.Event, in trace: inout Trace) {
  if case .held(let held) = event {
    require(!held.isEmpty, "no data")
    trace.data += held
  } else {
    trace.add("\(event)")
  }
}

/// What servers put together, in order of the bytes that stand for it.
private let pieces: [[UInt8]] =
  [
    "--B\r\n", "\r\n--B\r\n", "\n--B\n", "--B--", "\r\n--B--\r\n", "\r\n", "\n", "\r", "--", "-", "B",
    "Content-Type: image/jpeg\r\n", "Content-Type: text/plain\n", "X: 1\r\n", "HTTP/1.1 200 OK\r\n",
    "Content-Length: ",
  ].map { Array($0.utf8) } + [
    // The markers of a picture, segments and scans, and what lies within them.
    [0xFF, 0xD8], [0xFF, 0xD9], [0xFF, 0xE0, 0, 4, 0xFF, 0xD9],
    [0xFF, 0xE1, 0, 8, 0xFF, 0xD8, 0xFF, 0xD9, 0, 0],
    [0xFF, 0xDB, 0, 3, 1], [0xFF, 0xC0, 0, 2], [0xFF, 0xC2, 0, 3, 0x2D], [0xFF, 0xDA, 0, 3, 1], [0xFF, 0],
    [0xFF, 0xD3],
    [0xFF], [0xFF, 0xFF], [0xFF, 1],
    [
      0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0xFF, 0xD9, 0xFF, 0xDA, 0, 3, 1, 5, 0x0A, 0x2D, 0xFF, 0, 0xFF, 0xD1, 0xFF,
      0xD9,
    ],
  ]

/// The pieces that `list` names; a byte past the last piece is the number in a length up to 127, then itself.
private func stream(of list: ArraySlice<UInt8>) -> [UInt8] {
  list.reduce(into: []) { stream, byte in
    if Int(byte) < pieces.count {
      stream += pieces[Int(byte)]
    } else if byte < 128 {
      stream += Array("Content-Length: \(Int(byte) - pieces.count)\r\n\r\n".utf8)
    } else {
      stream.append(byte)
    }
  }
}
