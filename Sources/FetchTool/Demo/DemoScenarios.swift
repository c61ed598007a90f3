import Gannet
import GannetSockets

extension DemoScenario {
  /// How often the stream shows its pictures.
  private static let rounds = 5

  /// The loads of the demo, in order.
  static var all: [DemoScenario] { [plain, gzip, chunked, redirects, login, secure, stream] }

  private static let hello = Array("Hello from a recorded server.\n".utf8)

  private static func finished(
    _ bodies: [[UInt8]], type: String = "text/plain", steps: [String] = [], challenges: Int = 0
  ) -> Outcome {
    var outcome = Outcome(
      steps: steps, challenges: challenges, status: 200, mimeType: type, bodies: bodies)
    outcome.hasFinished = true
    return outcome
  }

  private static var plain: DemoScenario {
    DemoScenario(
      title: "a plain GET",
      recording: Recording(
        demo: "http", path: "/hello.txt",
        [("/hello.txt", [DemoResponse.make("200 OK", ["Content-Type: text/plain; charset=utf-8"], hello)])]),
      expected: finished([hello]))
  }

  private static let compressedText = Array(
    (1...100).map { "Line \($0) of a text that is sent in a tenth of its size.\n" }.joined().utf8)

  /// `compressedText` through gzip, in base64.
  private static let compressed = """
    H4sIAAAAAAACA53YuY3DMBRAwXyrYAWL5U324CYcaGElcmAGhqv30YEnEkDoZQMe/7QfW4jh+h/OYW33FdblvMJ+C7fteH2Pz/Kx
    Lu8/9vVa3h/b78/pXSWqMlWFqkpVo6pTNaiaVMU/y0xHNB7RfEQDEk1INCLRjERDEk1JMiUJ9xBTkkxJMiXJlCRTkkxJMiXJlGRT
    kk1JxqPGlGRTkk1JNiXZlGRTkk1JMSXFlBRTUvBGYkqKKSmmpJiSYkqKKammpJqSakqqKal4cTUl1ZRUU1JNSTUlzZQ0U9JMSTMl
    zZQ0fN+YkmZKmilppqSbkm5KuinppqSbkm5KOj6DTUk3Jd2UDFMyTMkwJcOUDFMyTMkwJQOnJaZkmJJpSqYpmaZkmpJpSqYpmaZk
    mpKJQzWdqn3N5AkQlPN5dBUAAA==
    """

  private static var gzip: DemoScenario {
    DemoScenario(
      title: "a text that is sent with gzip and arrives as it was",
      recording: Recording(
        demo: "http", path: "/text",
        [
          (
            "/text",
            [
              DemoResponse.make(
                "200 OK", ["Content-Type: text/plain", "Content-Encoding: gzip", "Vary: Accept-Encoding"],
                decoded(compressed))
            ]
          )
        ]),
      expected: finished([compressedText]))
  }

  private static var chunked: DemoScenario {
    DemoScenario(
      title: "a text in chunks, with a trailer",
      recording: Recording(
        demo: "http", path: "/chunks",
        [
          (
            "/chunks",
            [
              DemoResponse.head(
                "HTTP/1.1 200 OK", "Content-Type: text/plain", "Transfer-Encoding: chunked",
                "Trailer: X-Checked")
            ]
              + DemoResponse.chunks(
                ["Nobody knew ", "how long ", "this would be.\n"], trailers: "X-Checked: yes")
          )
        ]),
      expected: finished([Array("Nobody knew how long this would be.\n".utf8)]))
  }

  private static var redirects: DemoScenario {
    DemoScenario(
      title: "a URL that is put into its canonical form, then two redirects",
      recording: Recording(
        demo: "http", path: "",
        [
          ("/", [DemoResponse.make("301 Moved Permanently", ["Location: http://127.0.0.1:8080/there"], [])]),
          (
            "/there",
            [DemoResponse.make("302 Found", ["Location: /here"], Array("You are nearly there.\n".utf8))]
          ),
          ("/here", [DemoResponse.make("200 OK", ["Content-Type: text/plain"], hello)]),
        ]),
      respell: { "HTTP" + $0.dropFirst(4) },
      expected: finished([hello], steps: ["0 /", "301 /there", "302 /here"]))
  }

  private static var login: DemoScenario {
    DemoScenario(
      title: "a Basic challenge",
      recording: Recording(
        demo: "http", path: "/vault",
        [
          (
            "/vault",
            [
              DemoResponse.make(
                "401 Unauthorized",
                ["WWW-Authenticate: Basic realm=\"the vault\"", "Content-Type: text/plain"],
                Array("Who is it?\n".utf8))
            ]
          ),
          ("/vault", [DemoResponse.make("200 OK", ["Content-Type: text/plain"], hello)]),
        ]),
      credential: URLCredential(user: "demo", password: "open sesame", persistence: .none),
      expected: finished([hello], challenges: 1))
  }

  private static var secure: DemoScenario {
    DemoScenario(
      title: "over TLS, with a certificate made just now and trusted explicitly",
      recording: Recording(
        demo: "https", path: "/hello.txt",
        [("/hello.txt", [DemoResponse.make("200 OK", ["Content-Type: text/plain"], hello)])]),
      usesTLS: true, expected: finished([hello]))
  }

  private static var pictures: [[UInt8]] {
    (0..<rounds).flatMap { _ in DemoPictures.base64.map { decoded($0) } }
  }

  private static var stream: DemoScenario {
    let pictures = pictures
    var expected = finished([[]] + pictures, type: "image/jpeg")
    expected.finishedParts = pictures.count
    return DemoScenario(
      title: "a stream of pictures (MJPEG)",
      recording: Recording(
        demo: "http", path: "/camera",
        [
          (
            "/camera",
            [
              DemoResponse.head(
                "HTTP/1.1 200 OK", "Content-Type: multipart/x-mixed-replace; boundary=frame",
                "Cache-Control: no-store", "Connection: close")
            ] + pictures.map { DemoResponse.part($0) } + [Array("--frame--\r\n".utf8)]
          )
        ], ends: true),
      expected: expected)
  }

  /// Text that is ours: what is no base64 in it would show as a difference.
  private static func decoded(_ base64: String) -> [UInt8] {
    Array(Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
  }
}
