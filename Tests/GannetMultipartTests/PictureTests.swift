import GannetHTTP
import GannetMultipart
import TestSupport
import Testing

@Suite("multipart/x-mixed-replace: pictures and lengths", .longWork)
struct PictureTests {
  @Test("streams", arguments: pictureCases + proofCases + refutedCases)
  func streams(_ row: StreamCase) {
    let (whole, mismatches) = Splitting.outcomes(of: Bytes.latin1(row.stream), endOfFile: !row.goesOn) {
      MixedReplaceSplitter(boundary: row.boundary)
    }
    #expect(whole.events == row.events)
    #expect(whole.error.map { "\($0.rule.rawValue) at \($0.offset)" } == row.error)
    #expect(mismatches.isEmpty, "\(mismatches.map { "\($0.cut): \($0.outcome)" })")
  }

  @Test(
    "what is no picture, or no sound one, does not end by its structure",
    arguments: [
      "\u{FF}\u{D8}\0\u{FF}\u{D9}", "\0\0\(Pictures.plain)", "\u{FF}\u{D8}\u{FF}\0\u{FF}\u{D9}",
      "\u{FF}\u{D8}\u{FF}\u{BF}\0\u{2}\u{FF}\u{D9}", "\u{FF}\u{D8}\u{FF}\u{D8}\u{FF}\u{D9}",
      "\u{FF}\u{D8}\u{FF}\u{D0}\u{FF}\u{D9}", "\u{FF}\u{D8}\u{FF}\u{E0}\0\u{1}\u{FF}\u{D9}",
      "\u{FF}\u{D8}\u{FF}\u{E0}\0\u{2}x\u{FF}\u{D9}",
      "\(Pictures.start)\(Pictures.scan("x\u{FF}\u{D8}"))\u{FF}\u{D9}",
      "\(Pictures.start)\(Pictures.scan("x\u{FF}\u{2}"))\u{FF}\u{D9}",
      "\(Pictures.start)\(Pictures.scan("x\u{FF}\u{1}x"))\u{FF}\u{D9}",
    ])
  func broken(_ picture: String) throws {
    for (type, pauses) in [
      ("Content-Type: image/jpeg\n", true), ("", picture.hasPrefix("\u{FF}\u{D8}\u{FF}")),
    ] {
      var splitter = MixedReplaceSplitter(boundary: "B")
      var outcome = Outcome()
      _ = try Splitting.take(&splitter, Bytes.latin1("--B\n\(type)\n"), &outcome)
      _ = try Splitting.take(&splitter, Bytes.latin1(picture), &outcome)
      let before = outcome.events
      outcome.endData()
      #expect(outcome.events.last == "data \(picture)" && before.count == 1)
      // It is complete where it ends all that has arrived.
      #expect(splitter.inputPaused() == (pauses ? .partCompleted : nil))
      #expect(splitter.inputPaused() == nil)
    }
  }

  @Test("whatever the place of what is looked for in a long run", arguments: 0..<4)
  func places(quarter: Int) throws {
    for length in quarter * 40..<quarter * 40 + 40 {
      let run = String(repeating: "x\u{FF}\0-", count: 40).prefix(length)
      let rest = String(repeating: "y", count: 160 - length)
      let scan = run + "\u{FF}\u{D5}" + rest + "\u{FF}\0"
      let first = Pictures.start + Pictures.scan(scan) + Pictures.end
      let second =
        Pictures.start + Pictures.scan(String(run)) + Pictures.segment("\u{C4}", rest) + Pictures.scan(rest)
      var splitter = MixedReplaceSplitter(boundary: "B")
      var outcome = Outcome()
      let stream =
        camera(first) + "\r\n" + camera(second + Pictures.end) + camera("\(run).\r\n") + "--B\r\n\r\n"
      _ = try Splitting.take(&splitter, Bytes.latin1(stream), &outcome)
      #expect(
        outcome.events == [
          jpeg, "data \(first)", "complete", "ended", jpeg, "data \(second)\(Pictures.end)", "complete",
          "ended",
          jpeg, "data \(run).", "complete", "ended", "part",
        ])
    }
  }

  @Test("a pause completes nothing but a broken picture's last bytes")
  func pauses() throws {
    for (stream, completes) in [
      ("--B\n\n\(Pictures.broken)", false), ("--B\nContent-Type: image/jpeg\n\n\(Pictures.broken)", true),
      ("--B\nContent-Type: IMAGE/JPG; x=1\n\n\(Pictures.broken)", true),
      ("--B\nContent-Type: image/jpegs\n\n\(Pictures.broken)", false),
      ("--B\nContent-Type: image/jpeg\n\n\(Pictures.broken)x", false),
      ("--B\nContent-Type: image/jpeg\n\n\(Pictures.broken)\n", false),
      ("--B\nContent-Type: image/jpeg\n\n\(Pictures.start)\(Pictures.scan("x"))\u{FF}", false),
      ("--B\nContent-Type: image/jpeg\nContent-Length: 99\n\n\(Pictures.broken)", false),
      ("", false), ("--B\nContent-Type: image/jpeg\n\n", false),
      ("--B\nContent-Type: image/jpeg\n\n\(Pictures.broken)\n--B\n", false),
    ] {
      var splitter = MixedReplaceSplitter(boundary: "B")
      var outcome = Outcome()
      _ = try Splitting.take(&splitter, Bytes.latin1(stream), &outcome)
      #expect(splitter.inputPaused() == (completes ? .partCompleted : nil), "\(stream.debugDescription)")
      guard completes else { continue }
      _ = try Splitting.take(&splitter, Bytes.latin1("more\n--B--"), &outcome)
      #expect(outcome.events.suffix(2) == ["ended", "finished"])
    }
  }
}

private func camera(_ picture: String, length: Int? = nil) -> String {
  "--B\r\nContent-Type: image/jpeg\r\n" + (length.map { "Content-Length: \($0)\r\n" } ?? "")
    + "\r\n\(picture)"
}

private func size(_ text: String) -> Int { text.unicodeScalars.count }

private func lengthened(_ length: Int) -> String { "\(jpeg); Content-Length=\(length)" }

private let pictureCases =
  [
    ("plain", Pictures.plain), ("with a thumbnail", Pictures.withThumbnail),
    ("progressive", Pictures.progressive), ("with markers alone", Pictures.withTEM),
    ("tables only", Pictures.tables),
    ("empty", "\u{FF}\u{D8}\u{FF}\u{D9}"),
  ].flatMap { name, picture in
    [
      StreamCase(
        "a picture without a length is complete at its own end: \(name)", camera(picture),
        [jpeg, "data \(picture)", "complete"], goesOn: true),
      StreamCase(
        "and ends with its delimiter: \(name)", camera(picture) + "\r\n" + camera(picture) + "\n--B--",
        [
          jpeg, "data \(picture)", "complete", "ended", jpeg, "data \(picture)", "complete", "ended",
          "finished",
        ]),
      StreamCase(
        "no line end after it: \(name)", camera(picture) + camera(picture) + "--B--",
        [
          jpeg, "data \(picture)", "complete", "ended", jpeg, "data \(picture)", "complete", "ended",
          "finished",
        ]),
    ]
  } + [
    StreamCase(
      "whatever its type", "--B\n\n\(Pictures.plain)", ["part", "data \(Pictures.plain)", "complete"],
      goesOn: true),
    StreamCase(
      "bytes after the picture are data of the part", camera(Pictures.plain) + "\0\0\r\nmore\r\n--B\r\n\r\n",
      [jpeg, "data \(Pictures.plain)", "complete", "data \0\0\r\nmore", "ended", "part", "ended"]),
    StreamCase(
      "a delimiter within a picture ends the part",
      camera(Pictures.start + Pictures.scan("x\r\n--B\r\n\r\ny")),
      [jpeg, "data \(Pictures.start + Pictures.scan("x"))", "complete", "ended", "part", "data y", "ended"]),
    StreamCase(
      "line ends and dashes within a picture",
      camera(Pictures.start + Pictures.scan("\r\n--\n--\r\n--C--B\n\u{FF}\0\n-") + Pictures.end),
      [
        jpeg, "data \(Pictures.start + Pictures.scan("\r\n--\n--\r\n--C--B\n\u{FF}\0\n-") + Pictures.end)",
        "complete",
      ], goesOn: true),
    StreamCase(
      "a picture that the stream's end cuts", camera(Pictures.start + Pictures.scan("x")),
      [jpeg, "data \(Pictures.start + Pictures.scan("x"))", "ended"]),
    StreamCase(
      "a broken picture at the stream's end", camera(Pictures.broken),
      [jpeg, "data \(Pictures.broken)", "complete", "ended"]),
    StreamCase(
      "a broken picture is complete with its delimiter", camera(Pictures.broken) + "\r\n--B\r\n",
      [jpeg, "data \(Pictures.broken)", "complete", "ended"], goesOn: true),
  ]

private let proofCases = [
  StreamCase(
    "no promised byte is kept back at its end", "--B\nContent-Length: 4\n\nx\u{FF}\u{D9}-",
    ["part Content-Length=4", "data x\u{FF}\u{D9}-"], goesOn: true),
  StreamCase(
    "within promised data only line ends and pictures may begin a delimiter",
    "--B\nContent-Length: 99\n\nxx--B\nA: 1", ["part Content-Length=99", "data xx--B\nA: 1"],
    goesOn: true),
  StreamCase(
    "a length is believed once the stream has proved one",
    "--B\nContent-Length: 3\n\none\n--B\nContent-Length: 4\n\ntwo\n",
    [
      "part Content-Length=3", "data one", "complete", "ended", "part Content-Length=4", "data two\n",
      "complete",
    ],
    goesOn: true),
  StreamCase(
    "the close delimiter proves one too", "--B\nContent-Length: 3\n\none--B--",
    ["part Content-Length=3", "data one", "complete", "ended", "finished"]),
  StreamCase(
    "or when the picture's own end is there", camera(Pictures.plain, length: size(Pictures.plain)),
    [lengthened(size(Pictures.plain)), "data \(Pictures.plain)", "complete"], goesOn: true),
  StreamCase(
    "or the last bytes of a broken one", camera(Pictures.broken, length: 7),
    [lengthened(7), "data \(Pictures.broken)", "complete"], goesOn: true),
  StreamCase(
    "but not a thumbnail's",
    camera(Pictures.withThumbnail, length: size(Pictures.start + "....Exif..") + size(Pictures.plain)),
    [
      lengthened(size(Pictures.start + "....Exif..") + size(Pictures.plain)),
      "data \(Pictures.withThumbnail)",
      "complete",
    ], goesOn: true),
  StreamCase(
    "a length larger than the picture waits for the delimiter",
    camera(Pictures.plain + "\0\0", length: size(Pictures.plain) + 2),
    [lengthened(size(Pictures.plain) + 2), "data \(Pictures.plain)\0\0"], goesOn: true),
  StreamCase(
    "which proves padded pictures",
    camera(Pictures.tables + "\0\0", length: size(Pictures.tables) + 2) + "\r\n"
      + camera(Pictures.tables + "\0", length: size(Pictures.tables) + 1),
    [
      lengthened(size(Pictures.tables) + 2), "data \(Pictures.tables)\0\0", "complete", "ended",
      lengthened(size(Pictures.tables) + 1), "data \(Pictures.tables)\0", "complete",
    ], goesOn: true),
  StreamCase(
    "where pictures ended as promised, one that doesn't is believed later",
    camera(Pictures.tables, length: size(Pictures.tables)) + "\r\n"
      + camera("\u{FF}\u{D8}\u{FF}x", length: 4),
    [
      lengthened(size(Pictures.tables)), "data \(Pictures.tables)", "complete", "ended", lengthened(4),
      "data \u{FF}\u{D8}\u{FF}x",
    ], goesOn: true),
  StreamCase(
    "a length that counts the line end",
    camera(Pictures.tables + "\r\n", length: size(Pictures.tables) + 2) + "--B\n",
    [lengthened(size(Pictures.tables) + 2), "data \(Pictures.tables)\r\n", "complete", "ended"], goesOn: true),
  StreamCase(
    "a proved length keeps a delimiter in the data",
    "--B\nContent-Length: 3\n\none\n--B\nContent-Length: 9\n\ntwo\n--B\nx\n--B--",
    [
      "part Content-Length=3", "data one", "complete", "ended", "part Content-Length=9", "data two\n--B\nx",
      "complete",
      "ended", "finished",
    ]),
]

private let refutedCases = [
  StreamCase(
    "a picture that begins where a length was too small is not followed",
    camera(Pictures.tables, length: size(Pictures.tables)) + "\r\n"
      + camera("\u{FF}\u{D8}\u{FF}x" + Pictures.plain, length: 4),
    [
      lengthened(size(Pictures.tables)), "data \(Pictures.tables)", "complete", "ended", lengthened(4),
      "data \u{FF}\u{D8}\u{FF}x\(Pictures.plain)",
    ], goesOn: true),
  StreamCase(
    "a part that its length completed goes on all the same",
    "--B\nContent-Length: 3\n\none\n--B\nContent-Length: 3\n\ntwo\nmore\n--B\nContent-Length: 5\n\nthree",
    [
      "part Content-Length=3", "data one", "complete", "ended", "part Content-Length=3", "data two",
      "complete",
      "data \nmore", "ended", "part Content-Length=5", "data three",
    ], goesOn: true),
  StreamCase(
    "too small for a picture, which completes it", camera(Pictures.plain, length: 20),
    [lengthened(20), "data \(Pictures.plain)", "complete"], goesOn: true),
  StreamCase(
    "too small for the second picture of a stream that proved its lengths",
    camera(Pictures.plain, length: size(Pictures.plain)) + "\n" + camera(Pictures.plain, length: 20)
      + "\n--B\n",
    [
      lengthened(size(Pictures.plain)), "data \(Pictures.plain)", "complete", "ended", lengthened(20),
      "data \(Pictures.plain)", "complete", "ended",
    ], goesOn: true),
  StreamCase(
    "too large: the part waits at its delimiter", camera(Pictures.plain, length: 999) + "\r\n--B\r\n",
    [lengthened(999), "data \(Pictures.plain)"], goesOn: true),
  StreamCase(
    "too large: later parts don't wait",
    "--B\nContent-Length: 20\n\none\n--B\nContent-Length: 99\n\ntwo\n--B\nContent-Length: 99\n\nthree\n--B\n",
    [
      "part Content-Length=20", "data one", "complete", "ended", "part Content-Length=99", "data two",
      "complete",
      "ended", "part Content-Length=99", "data three", "complete", "ended",
    ], goesOn: true),
  StreamCase(
    "too large: later pictures are complete at their own ends",
    "--B\nContent-Length: 20\n\none\n" + camera(Pictures.plain, length: 999),
    [
      "part Content-Length=20", "data one", "complete", "ended", lengthened(999), "data \(Pictures.plain)",
      "complete",
    ], goesOn: true),
  StreamCase(
    "too large: the end of the stream ends a later part",
    "--B\nContent-Length: 20\n\none\n--B\nContent-Length: 99\n\ntwo",
    [
      "part Content-Length=20", "data one", "complete", "ended", "part Content-Length=99", "data two",
      "ended",
    ]),
  StreamCase(
    "too large by dashes, after a picture",
    camera(Pictures.tables, length: size(Pictures.tables) + 3) + "\r\n--B\r\n\r\ntwo\r\n--B--",
    [
      lengthened(size(Pictures.tables) + 3), "data \(Pictures.tables)", "complete", "ended", "part",
      "data two",
      "complete", "ended", "finished",
    ]),
  StreamCase(
    "too large by dashes, after a broken picture",
    camera(Pictures.broken, length: 10) + "\r\n--B\r\n\r\ntwo\r\n--B--",
    [
      lengthened(10), "data \(Pictures.broken)", "complete", "ended", "part", "data two", "complete", "ended",
      "finished",
    ]),
  StreamCase(
    "too large, and no line end after the picture",
    camera(Pictures.tables, length: 60)
      + "--B\r\n\r\ntwo\r\n--B\r\n\r\nthree and more than was promised\r\n--B--",
    [
      lengthened(60), "data \(Pictures.tables)", "complete", "ended", "part", "data two", "complete", "ended",
      "part",
      "data three and more than was promised", "complete", "ended", "finished",
    ]),
]
