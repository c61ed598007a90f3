import GannetHTTP

let usage = """
  usage: gannet-parse-bench TEST…
  TEST: head cuts chunks floods, or heads=N heads-in-pieces=N to read N heads and print nothing
  docs/BENCHMARKS.md says what each does and prints. HEAD_FILE names a head to read in place of the built-in one,
  PARSERS a library with others' parsers (parse.sh builds it).
  """
let tests = CommandLine.arguments.dropFirst()
guard !tests.isEmpty else { quit(usage) }
let head = try environment("HEAD_FILE").map(readFile) ?? Array(plainHead.utf8)

for test in tests {
  switch test {
  case "head": try measureHead(head, beside: Peer.all())
  case "cuts": try measureCuts(head)
  case "chunks": try measureChunks()
  case "floods": try measureFloods()
  default:
    let parts = test.split(separator: "=")
    guard parts.count == 2, let count = Int(parts[1]), count >= 0 else { quit(usage) }
    var decoder = ResponseHeadDecoder()
    switch parts[0] {
    case "heads": _ = try headTime(head, rounds: count, &decoder)
    case "heads-in-pieces": try readInPieces(head, rounds: count, &decoder)
    default: quit(usage)
    }
  }
}
