import GannetHTTP
import GannetMultipart
import TestSupport
import Testing

/// Streams of browsers' own tests and of cameras. Each row runs at every cut.
@Suite("vectors: multipart", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"), .longWork)
struct SplitterVectorTests {
  @Test("splitters of Blink, Firefox, WebKit; cameras")
  func splitters() throws {
    var tally = Conformance(
      "multipart/multipart-splitter",
      differences: [
        (
          "empty lines before the first delimiter are skipped, not an empty part",
          ["blink/EatLeadingCRLF", "firefox/missing-lead-boundary"]
        ),
        ("a longer line is no delimiter", ["blink/FindBoundary/5"]),
        ("a delimiter within a line needs a field line, or the end, after it", ["blink/FindBoundary/3"]),
      ])
    for row in try VectorFile.rows("multipart/multipart-splitter.jsonl") {
      if row.has("parts") {
        tally.note(row.id, Self.partsDifference(row))
      } else if row.has("inputs") {
        tally.note(row.id, try Self.delimiterDifference(row))
      } else {
        let boundary = MediaType(row["content_type"]?.string ?? "")?.boundary
        tally.note(row.id, boundary == row["boundary"]?.string ? nil : boundary ?? "none")
      }
    }
    tally.finish(rows: 30)
  }

  private static func partsDifference(_ row: VectorFile.Row) -> String? {
    let bytes = (row["inputs"]?.array ?? []).flatMap { $0.bytes ?? [] }
    let boundary = MediaType(row["content_type"]?.string ?? "")?.boundary
    let (whole, mismatches) = Splitting.outcomes(of: bytes) { MixedReplaceSplitter(boundary: boundary) }
    if let mismatch = mismatches.first { return "\(mismatch.cut): \(mismatch.outcome)" }
    let wanted = (row["parts"]?.array ?? []).flatMap { part -> [String] in
      let fields = (part["headers"]?.array ?? []).map { pair in
        " " + (pair.array ?? []).compactMap(\.string).joined(separator: "=")
      }
      let body = part["body"]?.string ?? ""
      return ["part" + fields.joined(separator: ";")] + (body.isEmpty ? [] : ["data " + body])
    }
    let got = whole.events.filter { $0.hasPrefix("part") || $0.hasPrefix("data ") }
    return got == wanted && whole.error == nil ? nil : "\(whole) not \(wanted)"
  }

  /// Rows that say where the delimiter in a few bytes begins: after so much data of a part.
  private static func delimiterDifference(_ row: VectorFile.Row) throws -> String? {
    let bytes = (row["inputs"]?.array ?? []).flatMap { $0.bytes ?? [] }
    let boundary = row["boundary"]?.string ?? ""
    var splitter = MixedReplaceSplitter(boundary: boundary)
    var outcome = Outcome()
    _ = try Splitting.take(&splitter, bytes, &outcome)
    // A delimiter alone begins no part yet: the fields that would follow it do.
    let taken = try Splitting.take(&splitter, Bytes.latin1("\r\n\r\nx"), &outcome)
    outcome.endData()
    let isFound = outcome.events == ["part", "data x"] && taken == 5
    return isFound == row.has("delimiter_offset") ? nil : "\(outcome)"
  }
}
