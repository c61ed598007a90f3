import FetchTool
import Testing

@Suite("Arguments: flags and operands")
struct ArgumentTests {
  static let parser = ArgumentParser(flags: [
    Flag("all", "a"), Flag("bold", "b"), Flag("out", "o", .required), Flag("events", nil, .optional),
  ])

  @Test(
    arguments: [
      ([], []),
      (["x", "-a", "y"], [.operand("x"), .flag("all", nil), .operand("y")]),
      (["-abofile"], [.flag("all", nil), .flag("bold", nil), .flag("out", "file")]),
      (["-o", "-a"], [.flag("out", "-a")]),
      (["--out", "--", "--out=", "--out=a=b"], [.flag("out", "--"), .flag("out", ""), .flag("out", "a=b")]),
      (["--events", "u", "--events=body"], [.flag("events", nil), .operand("u"), .flag("events", "body")]),
      (["-", "--", "-a", "--"], [.operand("-"), .operand("-a"), .operand("--")]),
    ] as [([String], [Argument])])
  func reads(_ words: [String], _ arguments: [Argument]) throws {
    #expect(try Self.parser.parse(words) == arguments)
  }

  @Test(arguments: [
    (["--nothing=1"], "unknown flag --nothing"), (["-az"], "unknown flag -z"),
    (["--all=1"], "--all takes no value"), (["-o"], "-o needs a value"), (["--out"], "--out needs a value"),
  ])
  func saysWhatIsWrong(_ words: [String], _ sentence: String) {
    #expect(throws: ArgumentError(sentence)) { try Self.parser.parse(words) }
  }
}

@Suite("Arguments: the fetcher's flags")
struct FetchOptionsTests {
  func options(_ words: String...) throws -> FetchOptions {
    try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
  }

  @Test func readsEveryFlag() throws {
    let read = try options(
      "u", "-o", "f", "-XPUT", "-H", "A: b", "-H", "C;", "-H", "D:", "-H", "@h", "-u", "me:a:b", "-kfv",
      "--cacert", "ca", "-m", "1.5", "--connect-timeout=2", "--no-redirect", "--parts", "p", "--events=body",
      "--record", "r", "--record-secrets", "--unix-socket", "s", "-d", "x=1", "--data", "@file")
    #expect(read.urls == ["u"])
    #expect(read.outputs == ["f"])
    #expect(read.effectiveMethod(isUpload: false) == "PUT")
    #expect(
      read.fieldEdits == [
        .set(name: "A", value: "b"), .set(name: "C", value: ""), .remove(name: "D"), .file("h"),
      ])
    #expect(read.login == FetchOptions.Login("me:a:b"))
    #expect(read.login?.password == "a:b")
    #expect(read.skipsVerification && read.failsOnStatus && read.isVerbose && !read.followsRedirects)
    #expect(read.authorityFile == "ca" && read.partsDirectory == "p" && read.unixSocket == "s")
    #expect(read.maxTime == .milliseconds(1500))
    #expect(read.connectTimeout == .seconds(2))
    #expect(read.events == .callbacksWithBodies)
    #expect(read.recordFile == "r" && read.recordsSecrets)
    #expect(read.data == [.text("x=1"), .file("file")])
  }

  @Test func methodFollowsFromTheFlags() throws {
    #expect(try options("u", "-T", "f").effectiveMethod(isUpload: true) == "PUT")
    #expect(try options("u", "-T", "f", "-XPOST").effectiveMethod(isUpload: true) == "POST")
    #expect(try options("u").effectiveMethod(isUpload: false) == "GET")
    #expect(try options("u", "-I").effectiveMethod(isUpload: false) == "HEAD")
    #expect(try options("u", "-d", "").effectiveMethod(isUpload: false) == "POST")
    #expect(try options("u", "-I", "-X", "GET").effectiveMethod(isUpload: false) == "GET")
  }

  @Test func readsTheFlagsOfUploads() throws {
    let read = try options("u", "v", "-T", "f", "--expect100-timeout", "0.5", "-0", "-T", "g")
    #expect(read.uploads == ["f", "g"])
    #expect(read.expectTimeout == .milliseconds(500))
    #expect(read.usesHTTP10)
    #expect(
      try options("u", "--http1.0", "--upload-file=f", "--expect100-timeout", "0").expectTimeout == .zero)
  }

  @Test func zeroIsNoLimitOfItsOwn() throws {
    let read = try options("u", "-m", "0", "--connect-timeout", "0")
    #expect(read.maxTime == nil && read.connectTimeout == nil)
  }

  @Test func curlsEverydayFlags() throws {
    #expect(try options("u", "-L").followsRedirects)
    #expect(try options("u", "--no-redirect", "-L").followsRedirects)
    #expect(try !options("u", "-L", "--no-redirect").followsRedirects)
    #expect(try options("u", "-S").saysErrors)
    #expect(try !options("u", "-s").saysErrors)
    #expect(try options("u", "-sSL").saysErrors && options("u", "-sSL").isSilent)
  }

  @Test func loadsRunAtOnceWhenEachHasAFile() throws {
    #expect(try options("a", "b", "-o", "x", "-o", "y").hasFileForEach)
    #expect(try !options("a", "b", "-o", "x").hasFileForEach)
    #expect(try !options("a", "b", "-o", "x", "-o", "-").hasFileForEach)
  }

  @Test(arguments: [
    (["-v"], "no URL"), (["u", "-o", "a", "-o", "b"], "2 output files for 1 URL"),
    (["u", "-I", "-d", "x"], "choose one"), (["u", "v", "--record", "f"], "one URL"),
    (["u", "--record-secrets"], "--record FILE"), (["u", "-m", "soon"], "seconds"),
    (["u", "-m", "-1"], "seconds"),
    (["u", "-m", "inf"], "seconds"), (["u", "-H", "novalue"], "-H takes"), (["u", "--events=all"], "=body"),
    (["u", "--events", "-o", "-"], "standard output"), (["u", "-X", ""], "-X needs"),
    (["u", "-T", "a", "-T", "b"], "2 files to send for 1 URL"), (["u", "-T", "a", "-d", "x"], "choose one"),
    (["u", "-I", "-T", "a"], "choose one"), (["u", "-0", "-T", "-"], "HTTP/1.0"),
    (["u", "--record", "f", "-T", "-"], "-T a file"), (["u", "v", "-T", "-", "-T", "-"], "once"),
    (["u", "--expect100-timeout", "x"], "seconds"),
    (["u", "--record", "-"], "-o FILE"), (["u", "--record", "-", "-o", "-"], "-o FILE"),
  ])
  func saysWhatIsWrong(_ words: [String], _ part: String) {
    let error = #expect(throws: ArgumentError.self) {
      try FetchOptions(arguments: ArgumentParser(flags: FetchOptions.flags).parse(words))
    }
    #expect(error?.sentence.contains(part) == true, "\(error?.sentence ?? "")")
  }
}
