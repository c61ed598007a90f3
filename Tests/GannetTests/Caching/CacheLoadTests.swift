import Gannet
import GannetHTTP
import GannetSockets
import Synchronization
import TestSupport
import Testing

/// Loads with a cache: what is stored, what answers without a connection, what the delegate sees and may say
/// (docs/CONTRACT.md, rule 13). Which responses those are is `CacheRules`', and tested there.
@Suite("loads with a cache", .timeLimit(.minutes(1)))
struct CacheLoadTests {
  /// Loads one after the other with one cache and one server, whose clock is told.
  private final class Bench {
    let server: ScriptedServer
    let clock: Clock
    var configuration: URLConnection.Configuration
    let cache: URLCache

    final class Clock: Sendable {
      private let seconds = Atomic<Int64>(784_111_777)
      var now: Int64 {
        get { seconds.load(ordering: .relaxed) }
        set { seconds.store(newValue, ordering: .relaxed) }
      }
    }

    init(_ answers: [Answer], capacity: Int = 1 << 20) {
      let clock = Clock()
      self.clock = clock
      server = ScriptedServer(answers.map { [$0] })
      cache = URLCache(memoryCapacity: capacity) { clock.now }
      configuration = Loading.configuration(server)
      configuration.urlCache = cache
    }

    var connections: Int { server.peers.count }

    func load(
      _ url: String = "http://h/a", method: String = "GET", fields: FieldList = [:],
      policy: URLRequest.CachePolicy = .useProtocolCachePolicy, log: CallbackLog = CallbackLog()
    ) throws -> [String] {
      var request = URLRequest(string: url)
      request.httpMethod = method
      request.fields = fields
      request.cachePolicy = policy
      return try Loading.run(request, configuration, log)
    }
  }

  private static func fresh(_ body: String, _ fields: String = "") -> Answer {
    .ok(body, "Cache-Control: max-age=60\r\n\(fields)")
  }
  private static let stored = ["response 200 length 3", "data one", "willCache 3", "finish"]
  private static let used = ["response 200 length 3", "data one", "finish"]

  @Test func aFreshResponseAnswersWithoutAConnection() throws {
    let bench = Bench([Self.fresh("one"), Self.fresh("two"), .ok("new")])
    #expect(try bench.load() == Self.stored)
    let log = CallbackLog()
    #expect(try bench.load("http://h/a#frag", log: log) == Self.used)
    #expect(bench.connections == 1)
    #expect(log.responses[0].isFromCache)
    #expect(log.responses[0].urlString == "http://h/a#frag")
    #expect(log.responses[0].value(forHTTPHeaderField: "cache-control") == "max-age=60")
    #expect(log.responses[0].value(forHTTPHeaderField: "Age") == "0")
    // Another path, another query and another origin are other responses.
    #expect(try bench.load("http://h/a?").first == "response 200 length 3")
    #expect(bench.connections == 2)
    bench.clock.now += 60
    #expect(try bench.load() == ["response 200 length 3", "data new", "finish"])
  }

  @Test func aStaleResponseIsAskedAbout() throws {
    let etag = "ETag: \"v1\"\r\nCache-Control: max-age=0\r\n"
    let valid = Answer("HTTP/1.1 304 Not Modified\r\nX-New: 1\r\nCache-Control: max-age=60\r\n\r\n")
    let bench = Bench([.ok("one", etag), valid])
    #expect(try bench.load() == Self.stored)
    let log = CallbackLog()
    #expect(try bench.load(log: log) == Self.used)
    #expect(bench.server.requests[1].contains("\r\nIf-None-Match: \"v1\"\r\n"))
    #expect(log.responses[0].isFromCache)
    #expect(log.responses[0].value(forHTTPHeaderField: "X-New") == "1")
    // What the 304 said counts from now on.
    #expect(try bench.load() == Self.used)
    #expect(bench.connections == 2)
  }

  /// A 304 that names another strong validator speaks of another response: what is stored answers this load, unchanged,
  /// and none after it. A weak one says too little to tell.
  @Test(arguments: [("\"v1\"", "\"v2\"", false), ("\"v1\"", "\"v1\"", true), ("\"v1\"", "W/\"v2\"", true)])
  func a304OfAnotherResponseChangesNothing(_ stored: String, _ told: String, _ isKept: Bool) throws {
    let fresh = "X-New: 1\r\nCache-Control: max-age=60\r\n"
    let bench = Bench([
      .ok("one", "ETag: \(stored)\r\nCache-Control: max-age=0\r\n"),
      Answer("HTTP/1.1 304 Not Modified\r\nETag: \(told)\r\n\(fresh)\r\n"),
      Self.fresh("two"),
    ])
    #expect(try bench.load() == Self.stored)
    let log = CallbackLog()
    #expect(try bench.load(log: log) == Self.used)
    #expect(log.responses[0].value(forHTTPHeaderField: "X-New") == (isKept ? "1" : nil))
    let lines = try bench.load()
    #expect((lines == Self.used) == isKept)
    #expect(bench.connections == (isKept ? 2 : 3))
  }

  @Test func anotherAnswerToTheQuestionReplacesWhatIsStored() throws {
    let bench = Bench([
      .ok("one", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nCache-Control: no-cache\r\n"),
      Self.fresh("new"),
      .ok("x"),
    ])
    #expect(try bench.load() == Self.stored)
    let lines = try bench.load()
    #expect(lines == ["response 200 length 3", "data new", "willCache 3", "finish"])
    #expect(bench.server.requests[1].contains("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
    #expect(try bench.load() == ["response 200 length 3", "data new", "finish"])
    #expect(bench.connections == 2)
  }

  @Test func aConditionOfTheCallersIsTheCallersMatter() throws {
    let bench = Bench([Self.fresh("one"), Answer("HTTP/1.1 304 Not Modified\r\n\r\n")])
    #expect(try bench.load() == Self.stored)
    #expect(try bench.load(fields: ["If-None-Match": "\"v1\""]) == ["response 304 length 0", "finish"])
  }

  @Test func whatIsOfNoUseIsNotStored() throws {
    for fields in ["", "Cache-Control: no-store, max-age=60\r\n", "Cache-Control: max-age=0\r\n"] {
      let bench = Bench([.ok("one", fields), .ok("two", fields)])
      #expect(try bench.load() == Self.used)
      #expect(bench.cache.currentMemoryUsage == 0)
      #expect(try bench.load() == ["response 200 length 3", "data two", "finish"])
    }
    // A stream of parts, whatever it says.
    let parts = "--b\r\n\r\none\r\n--b--\r\n"
    let stream = Self.fresh(parts, "Content-Type: multipart/x-mixed-replace; boundary=b\r\n")
    #expect(try !Bench([stream]).load().contains { $0.hasPrefix("willCache") })
    // A body that is cut short.
    let cut = Answer(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 9\r\n\r\none", ending: .endOfFile)
    let bench = Bench([cut])
    #expect(try bench.load().last == "fail networkConnectionLost receiving")
    #expect(bench.cache.currentMemoryUsage == 0)
  }

  @Test func aBodyOfMoreThanATwentiethIsNotKept() throws {
    let chunks = { (count: Int) in
      Answer(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"
          + String(repeating: "1\r\nx\r\n", count: count) + "0\r\n\r\n")
    }
    let long = String(repeating: "x", count: 1001)
    for (answer, isKept) in [(chunks(1000), true), (chunks(1001), false), (Self.fresh(long), false)] {
      let bench = Bench([answer], capacity: 20_000)
      #expect(try bench.load().contains { $0.hasPrefix("willCache") } == isKept)
      #expect((bench.cache.currentMemoryUsage > 0) == isKept)
    }
  }

  @Test func theDelegateSaysWhatIsStored() throws {
    let log = CallbackLog()
    let refusing = Bench([Self.fresh("one")])
    log.caching = { _ in nil }
    #expect(try refusing.load(log: log) == Self.stored)
    #expect(refusing.cache.currentMemoryUsage == 0)

    let forbidding = Bench([Self.fresh("one")])
    log.caching = { CachedURLResponse(response: $0.response, data: $0.data, storagePolicy: .notAllowed) }
    _ = try forbidding.load(log: log)
    #expect(forbidding.cache.currentMemoryUsage == 0)

    let changing = Bench([Self.fresh("one")])
    log.caching = {
      CachedURLResponse(response: $0.response, data: Data("other".utf8), userInfo: ["mine": 7])
    }
    _ = try changing.load(log: log)
    let kept = changing.cache.cachedResponse(for: URLRequest(string: "http://h/a"))
    #expect(kept?.userInfo?["mine"] as? Int == 7)
    #expect(try changing.load() == ["response 200 length 3", "data other", "finish"])
  }

  @Test func aLoadThatIsCancelledWhenAskedStoresNothing() throws {
    let bench = Bench([Self.fresh("one")])
    let log = CallbackLog()
    log.onCallback = { word, connection in if word == "willCache" { connection.cancel() } }
    #expect(try bench.load(log: log) == ["response 200 length 3", "data one", "willCache 3"])
    #expect(bench.cache.currentMemoryUsage == 0)
  }

  @Test func aStoredResponseCanBeCancelledAndPaused() throws {
    for word in ["response", "data"] {
      let bench = Bench([Self.fresh("one")])
      _ = try bench.load()
      let log = CallbackLog()
      log.onCallback = { if $0 == word { $1.cancel() } }
      #expect(try bench.load(log: log) == Array(Self.used.prefix(word == "response" ? 1 : 2)))
      let paused = CallbackLog()
      paused.onCallback = { last, connection in
        guard last == word else { return }
        connection.pause()
        connection.resume()
      }
      #expect(try bench.load(log: paused) == Self.used)
    }
  }

  @Test func varyTellsResponsesApart() throws {
    let english = Self.fresh("one", "Vary: Accept-Language\r\n")
    let bench = Bench([english, Self.fresh("two", "Vary: Accept-Language\r\n"), .ok("x")])
    #expect(try bench.load(fields: ["Accept-Language": "en"]) == Self.stored)
    #expect(try bench.load(fields: ["Accept-Language": "de"]).contains("data two"))
    #expect(try bench.load(fields: ["Accept-Language": "en"]) == Self.used)
    #expect(
      try bench.load(fields: ["Accept-Language": "de"]) == ["response 200 length 3", "data two", "finish"])
    #expect(bench.connections == 2)
  }

  @Test func credentialsAnswerNobodyElse() throws {
    let bench = Bench([Self.fresh("one"), Self.fresh("two")])
    #expect(try bench.load(fields: ["Authorization": "Bearer a"]) == Self.stored)
    #expect(try bench.load(fields: ["Authorization": "Bearer a"]) == Self.used)
    #expect(try bench.load(fields: ["Authorization": "Bearer b"]).contains("data two"))

    let challenge = Answer.ok("no", status: "401 No", "WWW-Authenticate: Basic realm=\"r\"\r\n")
    let asked = Bench([])
    asked.configuration.transportProvider = ScriptedServer([[challenge, Self.fresh("one")], [.ok("two")]])
    let log = CallbackLog()
    log.challengeAnswer = {
      $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
    }
    #expect(try asked.load(log: log).last == "finish")
    #expect(try asked.load() == ["response 200 length 3", "data two", "finish"])
  }

  /// One URL over two Unix sockets is two servers, and what anybody may have answered is not for one who verifies.
  @Test func anotherWayThereIsAnotherResponse() throws {
    let bench = Bench([Self.fresh("one"), Self.fresh("two"), Self.fresh("six")])
    bench.configuration.unixSocketPath = "/first"
    #expect(try bench.load() == Self.stored)
    #expect(bench.cache.cachedResponse(for: URLRequest(string: "http://h/a")) == nil)
    bench.configuration.unixSocketPath = "/second"
    #expect(try bench.load().contains("data two"))
    bench.configuration.unixSocketPath = nil
    bench.configuration.trust = .unverified
    #expect(try bench.load().contains("data six"))
    #expect(try bench.load().contains("data six"))
    bench.configuration.trust = .system
    bench.configuration.unixSocketPath = "/first"
    #expect(try bench.load() == Self.used)
    #expect(bench.connections == 3)
  }

  @Test func aConnectionThatGaveA304ServesTheNextLoad() throws {
    let valid = Answer("HTTP/1.1 304 Not Modified\r\n\r\n")
    let bench = Bench([])
    let server = ScriptedServer([[.ok("one", "ETag: \"v1\"\r\nCache-Control: no-cache\r\n"), valid, valid]])
    bench.configuration.transportProvider = server
    let loop = try EventLoop()
    let log = CallbackLog()
    for _ in 0..<3 {
      let connection = URLConnection(
        request: URLRequest(string: "http://h/a"), delegate: log, configuration: bench.configuration,
        on: .loop(loop.handle))
      #expect(connection != nil)
      loop.run(until: .now + .seconds(20))
    }
    loop.shutDown()
    #expect(log.finished() == Self.stored + Self.used + Self.used)
    #expect(server.peers.count == 1)
  }

  /// What the cache was told between the question and its 304 is newer than what the 304 speaks of.
  @Test func a304StoresNothingThatTheCacheHasLetGoMeanwhile() throws {
    let hints = Answer(
      "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 304 N\r\nCache-Control: max-age=60\r\n\r\n")
    let request = URLRequest(string: "http://h/a")
    for isReplaced in [false, true] {
      let bench = Bench([.ok("one", "ETag: \"v1\"\r\nCache-Control: no-cache\r\n"), hints])
      #expect(try bench.load() == Self.stored)
      let old = try #require(bench.cache.cachedResponse(for: request))
      let log = CallbackLog()
      log.onCallback = { word, _ in
        guard word == "informational" else { return }
        bench.cache.removeAllCachedResponses()
        let newer = CachedURLResponse(response: old.response, data: Data("two".utf8))
        if isReplaced { bench.cache.storeCachedResponse(newer, for: request) }
      }
      // The load has what the server found valid; the cache has what it was given.
      #expect(try bench.load(log: log) == ["informational 103"] + Self.used)
      #expect(bench.cache.cachedResponse(for: request)?.data == (isReplaced ? Data("two".utf8) : nil))
    }
  }

  /// A 304 that forbids storing has the stored response used, once.
  @Test func a304ThatForbidsStoringIsFollowed() throws {
    let stored = Answer.ok(
      "one", "Last-Modified: Sun, 06 Nov 1984 08:49:37 GMT\r\nCache-Control: no-cache\r\n")
    let bench = Bench([stored, Answer("HTTP/1.1 304 N\r\nCache-Control: no-store\r\n\r\n")])
    #expect(try bench.load() == Self.stored)
    #expect(try bench.load() == Self.used)
    #expect(bench.cache.currentMemoryUsage == 0)
  }

  /// Who says itself what codings it takes gets a body as it came; what is stored of that is not for who does not.
  @Test func aBodyThatWasNotDecodedAnswersOnlyWhoAskedSo() throws {
    let coded = Self.fresh("raw", "Content-Encoding: x-rare\r\n")
    let bench = Bench([coded, Self.fresh("two"), coded])
    #expect(try bench.load(fields: ["Accept-Encoding": "x-rare"]).contains("data raw"))
    #expect(
      try bench.load(fields: ["Accept-Encoding": "x-rare"]) == [
        "response 200 length 3", "data raw", "finish",
      ])
    #expect(try bench.load().contains("data two"))
    #expect(bench.connections == 2)
  }

  @Test func aChangeMakesWhatIsStoredInvalid() throws {
    let change = Answer.ok("", "Location: /b\r\nContent-Location: http://o/c\r\n")
    for (method, answer, isInvalid) in [
      ("POST", change, true), ("DELETE", change, true), ("PUT", .ok("", status: "500 No"), false),
      ("OPTIONS", change, false),
    ] {
      let bench = Bench([Self.fresh("one"), Self.fresh("one"), Self.fresh("one"), answer])
      for url in ["http://h/a", "http://h/b", "http://o/c"] { _ = try bench.load(url) }
      #expect(try bench.load(method: method).last == "finish")
      func isKept(_ url: String) -> Bool { bench.cache.cachedResponse(for: URLRequest(string: url)) != nil }
      #expect(isKept("http://h/a") == !isInvalid, "\(method)")
      #expect(isKept("http://h/b") == !isInvalid, "\(method)")
      #expect(isKept("http://o/c"), "another origin's is not its to say")
    }
  }

  @Test func theCallersPolicyGoesFirst() throws {
    let bench = Bench([
      Self.fresh("one"), Self.fresh("two", "ETag: \"v2\"\r\n"), Answer("HTTP/1.1 304 N\r\n\r\n"),
    ])
    #expect(
      try bench.load(policy: .returnCacheDataDontLoad) == ["fail resourceUnavailable preparing"])
    #expect(bench.connections == 0)
    #expect(try bench.load() == Self.stored)
    #expect(try bench.load(policy: .reloadIgnoringLocalCacheData).contains("data two"))
    #expect(
      try bench.load(policy: .reloadRevalidatingCacheData) == ["response 200 length 3", "data two", "finish"])
    #expect(bench.server.requests[2].contains("If-None-Match: \"v2\"\r\nCache-Control: max-age=0\r\n"))
    bench.clock.now += 1000
    for policy in [URLRequest.CachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
      #expect(try bench.load(policy: policy) == ["response 200 length 3", "data two", "finish"])
    }
    #expect(bench.connections == 3)
    bench.configuration.urlCache = nil
    #expect(try bench.load(policy: .returnCacheDataDontLoad) == ["fail resourceUnavailable preparing"])
  }

  @Test func aHeadIsAnsweredByWhatAGetWasGiven() throws {
    let bench = Bench([Self.fresh("one")])
    #expect(try bench.load() == Self.stored)
    #expect(try bench.load(method: "HEAD") == ["response 200 length 3", "finish"])
    #expect(bench.connections == 1)
  }

  @Test func aHeadThatFindsAnotherResponseMakesTheStoredOneInvalid() throws {
    let bench = Bench([
      .ok("one", "ETag: \"v1\"\r\nCache-Control: no-cache\r\n"),
      Answer("HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 9\r\n\r\n"),
    ])
    #expect(try bench.load() == Self.stored)
    #expect(try bench.load(method: "HEAD") == ["response 200 length 9", "finish"])
    #expect(bench.cache.currentMemoryUsage == 0)
  }

  @Test func aRedirectIsAskedForAgainAndItsTargetIsStored() throws {
    let redirect = Answer.ok("", status: "301 Moved", "Location: /b\r\nCache-Control: max-age=60\r\n")
    let bench = Bench([])
    let server = ScriptedServer([[redirect, Self.fresh("one")], [redirect]])
    bench.configuration.transportProvider = server
    #expect(try bench.load().suffix(4) == Self.stored)
    #expect(try bench.load().suffix(3) == Self.used)
    #expect(server.requests.map { $0.components(separatedBy: "GET ").count - 1 } == [2, 1])
  }

  @Test func aDecodedBodyIsStoredDecoded() throws {
    let gzip: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0xCF, 0x4B, 0x05, 0, 0xF1, 0x86, 0x6C, 0x7A, 3, 0, 0, 0,
    ]
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Encoding: gzip\r\nContent-Length: "
    let bench = Bench([Answer(bytes: Array("\(head)\(gzip.count)\r\n\r\n".utf8) + gzip)])
    let first = try bench.load()
    #expect(first.last == "finish", "\(first)")
    #expect(try bench.load() == ["response 200 length -1", "data one", "finish"])
  }

  @Test func aLoadWithoutADelegateStoresToo() throws {
    let bench = Bench([Self.fresh("one")])
    let loop = try EventLoop()
    let connection = URLConnection(
      request: URLRequest(string: "http://h/a"), delegate: nil, configuration: bench.configuration,
      on: .loop(loop.handle))
    #expect(connection != nil)
    loop.run(until: .now + .seconds(20))
    loop.shutDown()
    #expect(try bench.load() == Self.used)
  }
}
