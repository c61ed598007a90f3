#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A parser of a library that parse.sh built from sources outside this project.
struct Peer {
  let name: String
  /// How much faster than it ours is to be.
  let target: Double
  /// Parses a head so many times; returns nanoseconds a head.
  let time: ([UInt8], Int) -> Double

  /// Those of the library that the environment's PARSERS names.
  static func all() -> [Peer] {
    guard let path = environment("PARSERS"), let library = unsafe dlopen(path, RTLD_NOW) else { return [] }
    let known = [("picohttpparser", "pico_head", 1.0), ("llhttp", "llhttp_head", 2.5)]
    return known.compactMap { peer in
      guard let symbol = unsafe dlsym(library, peer.1) else { return nil }
      // The library's functions have this type, and it is never unloaded.
      let parse = unsafe unsafeBitCast(
        symbol, to: (@convention(c) (UnsafePointer<UInt8>, Int, Int) -> CInt).self)
      return Peer(name: peer.0, target: peer.2) { head, rounds in
        nanoseconds {
          guard unsafe parse(head, head.count, rounds) > 0 else { quit("\(peer.0) did not read the head") }
        } / Double(rounds)
      }
    }
  }
}

/// Ends the process with one sentence on standard error.
func quit(_ reason: String) -> Never {
  let line = Array("gannet-parse-bench: \(reason)\n".utf8)
  _ = unsafe write(STDERR_FILENO, line, line.count)
  exit(1)
}

func environment(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

/// The bytes of a file.
func readFile(_ path: String) throws -> [UInt8] {
  guard let file = unsafe fopen(path, "r") else { return [] }
  defer { unsafe fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  let count = unsafe fread(&bytes, 1, bytes.count, file)
  return Array(bytes[..<count])
}
