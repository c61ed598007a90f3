import GannetHTTP
import GannetMultipart
import TestSupport
import Testing

/// A stream, and what must come of it at every cut.
struct StreamCase: Sendable, CustomTestStringConvertible {
  let name: String
  var boundary: String? = "B"
  let stream: String
  let events: [String]
  var error: String?
  /// Whether the stream goes on: no end of file is told.
  var goesOn = false

  var testDescription: String { name }

  init(
    _ name: String, boundary: String? = "B", _ stream: String, _ events: [String], error: String? = nil,
    goesOn: Bool = false
  ) {
    (self.name, self.boundary, self.stream, self.events) = (name, boundary, stream, events)
    (self.error, self.goesOn) = (error, goesOn)
  }
}

/// A stand-in for a picture: `FF D8`, text, `FF D9`.
func picture(_ text: String = "pic") -> String { "\u{FF}\u{D8}\(text)\u{FF}\u{D9}" }

@Suite("multipart/x-mixed-replace", .longWork)
struct MixedReplaceSplitterTests {
  @Test(
    "streams",
    arguments: delimiterCases + firstPartCases + lengthCases + lineEndCases + fieldCases + endCases
      + openCases)
  func streams(_ row: StreamCase) {
    let (whole, mismatches) = Splitting.outcomes(of: Bytes.latin1(row.stream), endOfFile: !row.goesOn) {
      MixedReplaceSplitter(boundary: row.boundary)
    }
    #expect(whole.events == row.events)
    #expect(whole.error.map { "\($0.rule.rawValue) at \($0.offset)" } == row.error)
    #expect(mismatches.isEmpty, "\(mismatches.map { "\($0.cut): \($0.outcome)" })")
  }
}

let jpeg = "part Content-Type=image/jpeg"

private let delimiterCases = [
  StreamCase(
    "as the standard says", "--B\r\nA: 1\r\n\r\none\r\n--B\r\nA: 2\r\n\r\ntwo\r\n--B--\r\n",
    ["part A=1", "data one", "complete", "ended", "part A=2", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "the parameter holds the dashes", boundary: "--B", "--B\r\n\r\none\r\n--B\r\n\r\ntwo\r\n--B--",
    ["part", "data one", "complete", "ended", "part", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "the parameter holds dashes and the delimiter two more", boundary: "--B",
    "----B\r\n\r\none\r\n--B\r\n----B--", ["part", "data one\r\n--B", "complete", "ended", "finished"]),
  StreamCase(
    "no dashes in the first delimiter", "B\nA: 1\n\none\n--B\n\ntwo\nB\n\nthree",
    ["part A=1", "data one", "complete", "ended", "part", "data two\nB\n\nthree", "ended"]),
  StreamCase(
    "no dashes in any delimiter", boundary: "cut", "cut\r\n\r\none\r\ncut\r\n\r\ntwo\r\ncut--",
    ["part", "data one", "complete", "ended", "part", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "no dashes in any delimiter, LF only", boundary: "cut", "cut\n\none\ncut\n\ntwo\n\ncut--",
    ["part", "data one", "complete", "ended", "part", "data two\n", "complete", "ended", "finished"]),
  StreamCase(
    "no dashes in any delimiter: no promised byte is kept back", boundary: "cut",
    "cut\nContent-Length: 3\n\none\ncut\nContent-Length: 4\n\nab\nc",
    [
      "part Content-Length=3", "data one", "complete", "ended", "part Content-Length=4", "data ab\nc",
      "complete",
    ],
    goesOn: true),
  StreamCase(
    "no dashes, then dashes within a line", boundary: "cut",
    "cut\r\n\r\n\(picture())--cut\r\n\r\ntwo--cut\r\nA: 1\r\n\r\nthree\r\n--cut--",
    [
      "part", "data \(picture())", "complete", "ended", "part", "data two", "complete", "ended", "part A=1",
      "data three",
      "complete", "ended", "finished",
    ]),
  StreamCase(
    "apostrophes around the parameter", boundary: "'x'", "--x\r\n\r\none\r\n--'x'\r\n--x--",
    ["part", "data one\r\n--'x'", "complete", "ended", "finished"]),
  StreamCase(
    "apostrophes that belong to it", boundary: "'x'", "--'x'\r\n\r\none\r\n--x\r\n--'x'--",
    ["part", "data one\r\n--x", "complete", "ended", "finished"]),
  StreamCase(
    "an apostrophe without an end", boundary: "'--x", "--x\r\n\r\none\r\n--x--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "an apostrophe alone", boundary: "'", "--'\r\n\r\none\r\n--'--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "the delimiter twice", "--B\r\n--B\r\nA: 1\r\n\r\none\r\n--B\r\n--B\r\n--B\r\nA:2\r\n\r\ntwo\r\n--B--",
    ["part A=1", "data one", "complete", "ended", "part A=2", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "a boundary that ends like a close delimiter", boundary: "data--",
    "--data--\r\n\r\none\r\n--data--\r\n\r\ntwo\r\n--data----\r\n",
    ["part", "data one", "complete", "ended", "part", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "a field on the delimiter's line", boundary: "--jpg",
    "--jpgContent-type: image/jpeg\r\nContent-length: 3\r\n\r\none\r\n--jpgContent-type: image/png\r\n\r\ntwo",
    [
      "part Content-type=image/jpeg; Content-length=3", "data one", "complete", "ended",
      "part Content-type=image/png",
      "data two", "ended",
    ]),
  StreamCase(
    "blanks after the delimiter", "--B \t\r\n\r\none\r\n--B  \n\r\ntwo\r\n--B-- ",
    ["part", "data one", "complete", "ended", "part", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "a longer line is no delimiter", "--B\r\n\r\none\r\n--Bravo\r\n--B-x\r\n--B x\r\n--B--",
    ["part", "data one\r\n--Bravo\r\n--B-x\r\n--B x", "complete", "ended", "finished"]),
  StreamCase(
    "the boundary within a line is data",
    "--B\r\n\r\nxx--Byy--B zz--B\r\nyy--B\r\n\r\n--B\r\n\r\ntwo\r\n--B--",
    [
      "part", "data xx--Byy--B zz--B\r\nyy--B\r\n", "complete", "ended", "part", "data two", "complete",
      "ended", "finished",
    ]),
  StreamCase(
    "within a line, with fields after it", "--B\nA: 1\n\none--B\nA: 2\n\ntwo--B--",
    ["part A=1", "data one", "complete", "ended", "part A=2", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "after the end of a picture", "--B\r\n\r\n\(picture())--B\r\n\r\n\(picture())--B--",
    [
      "part", "data \(picture())", "complete", "ended", "part", "data \(picture())", "complete", "ended",
      "finished",
    ]),
  StreamCase(
    "the beginning of a delimiter again and again", "--B\r\n\r\n\r\n--\r\n--\n--\r\r\n-\r\n--B--",
    ["part", "data \r\n--\r\n--\n--\r\r\n-", "complete", "ended", "finished"]),
  StreamCase(
    "dashes", boundary: "----x", "------x\r\n\r\n-----\r\n-------x\r\n------x--",
    ["part", "data -----\r\n-------x", "complete", "ended", "finished"]),
  StreamCase(
    "nothing after the close delimiter counts", "--B\r\n\r\none\r\n--B--\r\n--B\r\n\r\ntwo\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase("closed before any part", "--B--", ["finished"]),
  StreamCase("closed right after a delimiter", "--B\r\n--B--", ["finished"]),
]

private let firstPartCases = [
  StreamCase(
    "a preamble", "This is a\r\nmessage.\r\n\r\n--B\r\n\r\none\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "a preamble that looks like a field at first", "Note: a\r\nmessage\r\n--B\r\n\r\none\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "fields that a delimiter cuts", "Note: a\r\n--B\r\n\r\none\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "empty lines first", "\r\n\r\n\n--B\r\n\r\none\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "no delimiter before the first part",
    "Content-Type: image/jpeg\r\nContent-Length: 3\r\n\r\none\r\n--B\r\n"
      + "Content-Type: image/jpeg\r\n\r\ntwo\r\n--B\r\n",
    ["\(jpeg); Content-Length=3", "data one", "complete", "ended", jpeg, "data two", "complete", "ended"]),
  StreamCase(
    "no delimiter before the first part, dashes in the parameter", boundary: "--B",
    "A :1\n\none\n--B\nA: 2\n\ntwo\n--B--\n",
    ["part A=1", "data one", "complete", "ended", "part A=2", "data two", "complete", "ended", "finished"]),
  StreamCase("only a preamble", "nothing here", []),
  StreamCase(
    "a preamble that ends in a picture", "x\(picture())--B\r\n\r\none\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"]),
  StreamCase("a preamble, then closed within a line", boundary: "--B", "\u{9B}\0--\n---B--\n", ["finished"]),
  StreamCase("empty", "", []),
  StreamCase(
    "no boundary parameter", boundary: nil,
    "\r\n--ffmpeg\r\nA: 1\r\n\r\none\r\n--ffmpeg\r\n\r\ntwo\r\n--ffmpeg--",
    ["part A=1", "data one", "complete", "ended", "part", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "no boundary and no delimiter", boundary: nil, "\r\n-+picture", ["unsplit", "data \r\n-+picture"]),
  StreamCase("no boundary, only dashes", boundary: nil, "--\r\none", ["unsplit", "data --\r\none"]),
  StreamCase(
    "no boundary, a comment", boundary: nil, "-- one\nA: 1\n\ntwo", ["unsplit", "data -- one\nA: 1\n\ntwo"]),
  StreamCase("no boundary, nothing but a line end", boundary: nil, "\r\n", ["unsplit", "data \r\n"]),
]

private let lengthCases =
  [
    StreamCase(
      "a length", "--B\r\nContent-Length: 3\r\n\r\none\r\n--B--",
      ["part Content-Length=3", "data one", "complete", "ended", "finished"]),
    StreamCase(
      "line ends after it are dropped", "--B\r\nContent-Length: 3\r\n\r\none\r\n\r\n\n\r\n--B--",
      ["part Content-Length=3", "data one", "complete", "ended", "finished"]),
    StreamCase(
      "8 of them", "--B\nContent-Length: 3\n\none\r\n\n\n\n\n\n\n--B--",
      ["part Content-Length=3", "data one", "complete", "ended", "finished"]),
    StreamCase(
      "not 9 of them", "--B\nContent-Length: 3\n\none\r\n\n\n\n\n\n\n\n--B--",
      ["part Content-Length=3", "data one\r\n\n\n\n\n\n\n", "complete", "ended", "finished"]),
    StreamCase(
      "no line end after it", "--B\r\nContent-Length: 3\r\n\r\none--B\r\nContent-Length:3\r\n\r\ntwo--B--",
      [
        "part Content-Length=3", "data one", "complete", "ended", "part Content-Length=3", "data two",
        "complete", "ended",
        "finished",
      ]),
    StreamCase(
      "data that holds a delimiter",
      "--B\r\nContent-Length: 16\r\n\r\nab\r\n--B\r\n\r\ncd\r\n-\r\n--B\r\n\r\ntwo",
      [
        "part Content-Length=16", "data ab\r\n--B\r\n\r\ncd\r\n-", "complete", "ended", "part", "data two",
        "ended",
      ]),
    StreamCase(
      "data that ends in a line end", "--B\r\nContent-Length: 5\r\n\r\none\r\n\r\n--B--",
      ["part Content-Length=5", "data one\r\n", "complete", "ended", "finished"]),
    StreamCase(
      "too large", "--B\r\nContent-Length: 20\r\n\r\none\r\n--B\r\nContent-Length: 10\r\n\r\ntwo\r\n--B--",
      [
        "part Content-Length=20", "data one", "complete", "ended", "part Content-Length=10", "data two",
        "complete", "ended",
        "finished",
      ]),
    StreamCase(
      "far too large, in every part",
      "--B\nContent-Length: 99\n\none\n--B\nContent-Length: 99\n\ntwo\n--B\nContent-Length: 99\n\nthree\n--B\n\nfour",
      [
        "part Content-Length=99", "data one", "complete", "ended", "part Content-Length=99", "data two",
        "complete", "ended",
        "part Content-Length=99", "data three", "complete", "ended", "part", "data four", "ended",
      ]),
    StreamCase(
      "past what may be kept back", "--B\nContent-Length: 9000000\n\none\n--B\n\ntwo",
      ["part Content-Length=9000000", "data one", "complete", "ended", "part", "data two", "ended"],
      goesOn: false),
    StreamCase(
      "too large by one", "--B\nContent-Length: 4\n\none\r\n--B--",
      ["part Content-Length=4", "data one\r", "complete", "ended", "finished"]),
    StreamCase(
      "too large by its line end", "--B\nContent-Length: 5\n\none\r\n--B--",
      ["part Content-Length=5", "data one\r\n", "complete", "ended", "finished"]),
    StreamCase(
      "too large by a dash", "--B\nContent-Length: 6\n\none\r\n--B\n\ntwo\n--B--",
      [
        "part Content-Length=6", "data one\r\n-", "complete", "ended", "part", "data two", "complete",
        "ended", "finished",
      ]),
    StreamCase(
      "too large by both dashes", "--B\nContent-Length: 7\n\none\r\n--B\n\ntwo\n--B--",
      [
        "part Content-Length=7", "data one", "complete", "ended", "part", "data two", "complete", "ended",
        "finished",
      ]),
    StreamCase(
      "too small", "--B\r\nContent-Length: 3\r\n\r\none\r\nfour\r\n--B\r\n\r\ntwo\r\n--B--",
      [
        "part Content-Length=3", "data one\r\nfour", "complete", "ended", "part", "data two", "complete",
        "ended",
        "finished",
      ]),
    StreamCase(
      "too small for the picture", "--B\r\nContent-Length: 4\r\n\r\n\(picture())\r\n--B\r\n\r\ntwo\r\n--B--",
      [
        "part Content-Length=4", "data \(picture())", "complete", "ended", "part", "data two", "complete",
        "ended", "finished",
      ]),
    StreamCase(
      "a picture with bytes after its end", "--B\r\nContent-Length: 10\r\n\r\n\(picture())\0\0\0\r\n--B--",
      ["part Content-Length=10", "data \(picture())\0\0\0", "complete", "ended", "finished"]),
    StreamCase(
      "a picture with bytes after its end, then nothing",
      "--B\r\nContent-Length: 10\r\n\r\n\(picture())\0\0\0",
      ["part Content-Length=10", "data \(picture())\0\0\0", "complete", "ended"]),
    StreamCase(
      "zero promises nothing", "--B\r\nContent-Length: 0\r\n\r\none\r\n--B--",
      ["part Content-Length=0", "data one", "complete", "ended", "finished"]),
  ]
  + ["3 bytes", "3;", "\t3", "3, 3"].map {
    StreamCase(
      "a length with junk: \($0)", "--B\nContent-Length:\($0)\n\none--B--",
      ["part Content-Length=\($0.trimmingPrefix("\t"))", "data one", "complete", "ended", "finished"])
  }
  + ["\"3\"", "", "0x3", "3x", "-3", "99999999999999999999", "%d"].map {
    StreamCase(
      "no length: \($0)", "--B\nContent-Length: \($0)\n\none two\n--B--",
      ["part Content-Length=\($0)", "data one two", "complete", "ended", "finished"])
  }

private let lineEndCases = [
  StreamCase(
    "LF only", "--B\nContent-Type: image/jpeg\nContent-Length: 5\n\nABCDE\n--B\n\nFG\n--B--\n",
    [
      "\(jpeg); Content-Length=5", "data ABCDE", "complete", "ended", "part", "data FG", "complete", "ended",
      "finished",
    ]),
  StreamCase(
    "LF before the delimiter only", "--B\r\n\r\nABCDE\n--B\r\n\r\n",
    ["part", "data ABCDE", "complete", "ended", "part", "ended"]),
  StreamCase(
    "bare CR before it is data", "--B\r\n\r\nABCDE\r--B\r\nyy\r\n--B--",
    ["part", "data ABCDE\r--B\r\nyy", "complete", "ended", "finished"]),
  StreamCase(
    "bare CR where the promised length ends",
    "--B\r\nContent-Length:5\r\n\r\nABCDE\r--B\r\nA:1\r\n\r\nx\r\n--B--",
    [
      "part Content-Length=5", "data ABCDE", "complete", "ended", "part A=1", "data x", "complete", "ended",
      "finished",
    ]),
  StreamCase(
    "one line end belongs to the delimiter", "--B\r\n\r\none\r\n\r\n--B--",
    ["part", "data one\r\n", "complete", "ended", "finished"]),
  StreamCase(
    "CR CR LF", "--B\r\n\r\none\r\r\n--B--", ["part", "data one\r", "complete", "ended", "finished"]),
  StreamCase(
    "data of dashes and line ends", "--B\r\n\r\n\r\n\r\n\n\r--\r\n--\r\n--B--",
    ["part", "data \r\n\r\n\n\r--\r\n--", "complete", "ended", "finished"]),
]

private let fieldCases = [
  StreamCase(
    "no fields", "--B\r\n\r\n--B\r\n\r\nfoofoo--B--",
    ["part", "complete", "ended", "part", "data foofoo", "complete", "ended", "finished"]),
  StreamCase(
    "fields of any shape",
    "--B\r\nCONTENT-TYPE:image/jpeg\r\ncontent-length :2\r\nX:\ty\t\r\nnone\r\n\r\nab\r\n--B--",
    ["part CONTENT-TYPE=image/jpeg; content-length=2; X=y", "data ab", "complete", "ended", "finished"]),
  StreamCase(
    "a status line and junk among the fields",
    "--B\r\nHTTP/1.1 200 OK\r\nA: 1\r\n%s\r\n: x\r\n\u{FF}\r\nX: %d\r\n\r\none\r\n--B--",
    ["part A=1; X=%d", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "a status line before the first part's fields",
    "HTTP/1.0 200 OK\r\nA: 1\r\n\r\n--B\r\nA: 2\r\n\r\ntwo\r\n--B--",
    ["part A=2", "data two", "complete", "ended", "finished"]),
  StreamCase(
    "codings are passed on",
    "--B\r\nContent-Encoding: gzip\r\nSet-Cookie: s=1\r\n\r\nraw\r\n--B\r\n\r\nx\r\n--B--",
    [
      "part Content-Encoding=gzip; Set-Cookie=s=1", "data raw", "complete", "ended", "part", "data x",
      "complete",
      "ended", "finished",
    ]),
  StreamCase(
    "fields are not inherited", "--B\r\nContent-Length: 2\r\nX-T: 1\r\n\r\nab\r\n--B\r\n\r\nabcd\r\n--B--",
    [
      "part Content-Length=2; X-T=1", "data ab", "complete", "ended", "part", "data abcd", "complete",
      "ended", "finished",
    ]),
  StreamCase(
    "several small parts", "--B\n\na\n--B\n\nb\n--B\n\nc\n--B--",
    [
      "part", "data a", "complete", "ended", "part", "data b", "complete", "ended", "part", "data c",
      "complete", "ended", "finished",
    ]),
  StreamCase("an error after a preamble", "x\r\n--B\r\nA: \0", [], error: "field-value at 11"),
  StreamCase(
    "an error after a length that was too large by a dash", "--B\nContent-Length: 6\n\none\r\n--B\nA: \0",
    ["part Content-Length=6", "data one\r\n-", "complete", "ended"], error: "field-value at 35"),
  StreamCase("a control byte in a field", "--B\r\nA: x\0\r\n\r\n", [], error: "field-value at 9"),
  StreamCase(
    "and in a field of the second part", "--B\r\n\r\none\r\n--B\r\nA: x\0",
    ["part", "data one", "complete", "ended"],
    error: "field-value at 21"),
]

private let endCases = [
  StreamCase("in a part", "--B\r\n\r\none", ["part", "data one", "ended"]),
  StreamCase("in a part, after a line end", "--B\r\n\r\none\r\n", ["part", "data one\r\n", "ended"]),
  StreamCase("in a delimiter", "--B\r\n\r\none\r\n--", ["part", "data one", "ended"]),
  StreamCase("after a dash", "--B\r\n\r\none\r\n-", ["part", "data one\r\n-", "ended"]),
  StreamCase(
    "after a delimiter without its line end", "--B\r\n\r\none\r\n--B",
    ["part", "data one", "complete", "ended"]),
  StreamCase("after a delimiter", "--B\r\n\r\none\r\n--B\r\n", ["part", "data one", "complete", "ended"]),
  StreamCase("in fields", "--B\r\n\r\none\r\n--B\r\nContent-Ty", ["part", "data one", "complete", "ended"]),
  StreamCase("after fields", "--B\r\n\r\n", ["part", "ended"]),
  StreamCase("in a first delimiter", "--", []),
  StreamCase("in fields without a delimiter", "A: 1\r\n", []),
  StreamCase(
    "after a picture and half a delimiter", "--Bound\n\n\(picture())--Bou",
    ["part", "data \(picture())", "ended"]),
  StreamCase(
    "in promised data", "--B\r\nContent-Length: 9\r\n\r\nABCDE", ["part Content-Length=9", "data ABCDE"],
    error: "truncated-body at 31"),
  StreamCase(
    "in promised data, in a delimiter", "--B\r\nContent-Length: 12\r\n\r\nABCDE\r\n--",
    ["part Content-Length=12", "data ABCDE"], error: "truncated-body at 36"),
  StreamCase(
    "in promised data, after a delimiter", "--B\r\nContent-Length: 900\r\n\r\nABCDE\r\n--B--\r\n",
    ["part Content-Length=900", "data ABCDE", "complete", "ended", "finished"]),
  StreamCase(
    "at the promised end", "--B\r\nContent-Length: 5\r\n\r\nABCDE",
    ["part Content-Length=5", "data ABCDE", "complete", "ended"]),
  StreamCase(
    "at the promised end, a delimiter in the data", "--B\nContent-Length: 9\n\nA\n--B\n\nBC",
    ["part Content-Length=9", "data A", "complete", "ended", "part", "data BC", "ended"]),
].map { row in
  // The bare boundary "Bound" of one row; the others use B.
  row.stream.hasPrefix("--Bound") ? StreamCase(row.name, boundary: "Bound", row.stream, row.events) : row
}

/// What is out although the stream pauses.
private let openCases = [
  StreamCase(
    "a promised part is out", "--B\r\nContent-Length: 5\r\n\r\nABCDE",
    ["part Content-Length=5", "data ABCDE"], goesOn: true),
  StreamCase(
    "promised data that ends in a line end too", "--B\r\nContent-Length: 5\r\n\r\nABC\r\n",
    ["part Content-Length=5", "data ABC\r\n"], goesOn: true),
  StreamCase("a picture is out", "--B\r\n\r\n\(picture())", ["part", "data \(picture())"], goesOn: true),
  StreamCase(
    "only the beginning of a delimiter is kept back", "--B\r\n\r\none\r\n--", ["part", "data one"],
    goesOn: true),
  StreamCase(
    "and is data when it is none", "--B\r\n\r\none\r\n--x", ["part", "data one\r\n--x"], goesOn: true),
  StreamCase(
    "a part ends with its delimiter's line", "--B\r\n\r\none\r\n--B\r\n",
    ["part", "data one", "complete", "ended"],
    goesOn: true),
  StreamCase(
    "finished with the close delimiter", "--B\r\n\r\none\r\n--B--",
    ["part", "data one", "complete", "ended", "finished"],
    goesOn: true),
]
