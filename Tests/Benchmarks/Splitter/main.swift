import GannetHTTP
import GannetMultipart

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// splitter-bench ROUNDS FILE…: how fast the splitter is, in memory, over a stream whose parts are these pictures: without
// lengths and with them, in turn with `memchr` for `FF` alone over the same bytes. Prints a line of JSON for each of the
// two: medians of GB/s of the thread's own time, with their spread. Tests/Benchmarks/splitter.sh makes pictures and runs it.

/// Bytes given to the splitter at a time: what a connection reads.
let pieceBytes = 65_536
/// How often a round goes over the stream.
let passes = 4

guard CommandLine.arguments.count > 2, let rounds = Int(CommandLine.arguments[1]), rounds > 0 else {
  print("usage: splitter-bench ROUNDS FILE…")
  exit(64)
}
let pictures = CommandLine.arguments.dropFirst(2).map { contents(of: $0) }

// The first look at the memory in use makes some of it.
_ = residentKiB()
for hasLengths in [false, true] {
  let stream = stream(of: Array(pictures), hasLengths: hasLengths)
  var run = Run()
  for _ in 0..<rounds {
    run.splitting.append(gigabytes(of: stream, in: { run.split(stream, expecting: pictures.count * passes) }))
    run.scanning.append(gigabytes(of: stream, in: { run.prefixes = scan(stream) }))
  }
  print(run.line(hasLengths: hasLengths, stream: stream))
}

/// What was measured over one stream.
struct Run {
  var splitting: [Double] = []
  var scanning: [Double] = []
  var prefixes = 0
  private var partsSoFar = 0
  private var dataBytes = 0
  /// Resident memory after the first thousand parts.
  private var residentEarly: Int?

  mutating func split(_ stream: [UInt8], expecting count: Int) {
    var splitter = MixedReplaceSplitter(boundary: "frame")
    var parts = 0
    for _ in 0..<passes {
      for start in stride(from: 0, to: stream.count, by: pieceBytes) {
        let end = min(start + pieceBytes, stream.count)
        var place = start
        while true {
          guard let (consumed, event) = try? splitter.step(stream.span.extracting(place..<end)) else {
            fail("the splitter took the stream for a bad one")
          }
          place += consumed
          guard let event else { break }
          switch event {
          case .partCompleted: parts += 1
          case .data(let range): dataBytes += range.count
          case .held(let bytes): dataBytes += bytes.count
          case .partBegan, .partEnded, .finished, .unsplit: break
          }
        }
        if splitter.inputPaused() != nil { fail("a picture's structure was not followed") }
      }
    }
    if parts != count { fail("\(parts) parts were complete, not \(count)") }
    partsSoFar += parts
    if partsSoFar >= 1000, residentEarly == nil { residentEarly = residentKiB() }
  }

  func line(hasLengths: Bool, stream: [UInt8]) -> String {
    let split = splitting.sorted()
    let scanned = scanning.sorted()
    let median = split[split.count / 2]
    let base = scanned[scanned.count / 2]
    return """
      {"bench":"splitter","lengths":\(hasLengths),"gbps":\(median),"gbps_min":\(split[0]),\
      "gbps_max":\(split[split.count - 1]),"memchr_gbps":\(base),"memchr_min":\(scanned[0]),\
      "memchr_max":\(scanned[scanned.count - 1]),"ratio":\(median / base),"parts":\(partsSoFar),\
      "bytes_per_ff":\(stream.count / max(1, prefixes)),\
      "rss_growth_kib":\(residentEarly.map { residentKiB() - $0 } ?? -1)}
      """
  }
}

func stream(of pictures: [[UInt8]], hasLengths: Bool) -> [UInt8] {
  pictures.reduce(into: []) { stream, picture in
    let length = hasLengths ? "Content-Length: \(picture.count)\r\n" : ""
    stream += Array("--frame\r\nContent-Type: image/jpeg\r\n\(length)\r\n".utf8) + picture + [0x0D, 0x0A]
  }
}

/// How many `FF` one pass over the stream finds.
func scan(_ stream: [UInt8]) -> Int {
  var found = 0
  for _ in 0..<passes {
    found = 0
    var place = 0
    while let next = firstIndex(of: 0xFF, in: stream.span, from: place) {
      found += 1
      place = next + 1
    }
  }
  return found
}

/// Of the thread's own time: others may use the CPUs meanwhile.
func gigabytes(of stream: [UInt8], in work: () -> Void) -> Double {
  let begun = threadNanoseconds()
  work()
  return Double(stream.count * passes) / Double(threadNanoseconds() - begun)
}

func threadNanoseconds() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func contents(of path: String) -> [UInt8] {
  // SAFETY: the file is used on this thread only, and the buffer holds as many bytes as are asked for.
  guard let file = unsafe fopen(path, "rb") else { fail("\(path) can't be read") }
  defer { unsafe fclose(file) }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 1 << 20)
  while true {
    let count = unsafe fread(&piece, 1, piece.count, file)
    if count == 0 { return bytes }
    bytes += piece[..<count]
  }
}

func residentKiB() -> Int {
  let fields = String(decoding: contents(of: "/proc/self/statm"), as: UTF8.self).split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) / 1024 : 0
}

func fail(_ reason: String) -> Never {
  print("splitter-bench: \(reason)")
  exit(2)
}
