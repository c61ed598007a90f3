import GannetHTTP
import TestSupport
import Testing

/// The MIME Sniffing standard's own tests of media types: what is read, written as that standard writes it.
@Suite("vectors: MIME types", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct MIMETypeVectorTests {
  @Test("web-platform-tests: mime-types")
  func written() throws {
    try run(
      "wpt-mime-types", rows: 74,
      [
        ("blanks: they may stand around the = of a parameter", [6, 9, 10, 25]),
        ("line end: none is part of a field's value", [49, 50, 51]),
        ("wide: a text here is Unicode, not bytes", [53]),
      ])
  }

  @Test("web-platform-tests: generated-mime-types")
  func generated() throws { try run("wpt-generated-mime-types", rows: 881, []) }

  private func run(
    _ suite: String, rows: Int, _ differences: [(reason: String, places: [Int])]
  ) throws {
    var tally = Conformance(
      "mime/\(suite)", differences: differences.map { ($0.reason, $0.places.map(String.init)) })
    for (place, row) in try VectorFile.rows("mime/\(suite).json").enumerated() {
      let got = MediaType(row.string("input") ?? "").map { serialized($0) }
      let wanted = row.string("output")
      tally.note(
        String(place), got == wanted ? nil : "\(got.debugDescription), not \(wanted.debugDescription)")
    }
    tally.finish(rows: rows)
  }

  /// As the standard serializes a media type: a value that is no token is quoted.
  private func serialized(_ type: MediaType) -> String {
    type.parameters.reduce(type.essence) { text, parameter in
      let value = parameter.value
      let isToken = !value.isEmpty && value.unicodeScalars.allSatisfy { Self.tokenScalars.contains($0) }
      let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return "\(text);\(parameter.name)=" + (isToken ? value : "\"\(escaped)\"")
    }
  }

  private static let tokenScalars = Set(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".unicodeScalars)
}
