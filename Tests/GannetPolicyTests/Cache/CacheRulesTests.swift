import GannetHTTP
import GannetPolicy
import Testing

/// What is stored, how long it is fresh, and when it is used (RFC 9111): facts in, a decision out.
@Suite("CacheRules", .timeLimit(.minutes(1)))
struct CacheRulesTests {
  /// 1994-11-06 08:49:37.
  private static let then: Int64 = 784_111_777
  private static func date(_ offset: Int64) -> String { HTTPDate(secondsSince1970: then + offset).text }

  private static func stored(
    _ fields: FieldList, status: Int = 200, sent: FieldList = [:], delay: Int64 = 0
  ) -> StoredHead {
    StoredHead(status: status, fields: fields, sent: sent, requestTime: then - delay, responseTime: then)
  }

  @Test(
    "what is stored",
    arguments: [
      (["Cache-Control": "max-age=60"], true), (["Expires": date(60)], true), (["ETag": "\"v1\""], true),
      (["Last-Modified": date(-60)], true), (["Cache-Control": "private, max-age=60"], true),
      (["Cache-Control": "no-cache", "ETag": "\"v1\""], true),
      // Of no use later.
      ([:], false), (["Cache-Control": "max-age=0"], false), (["Cache-Control": "public"], false),
      (["Cache-Control": "no-cache"], false),
      // Forbidden.
      (["Cache-Control": "no-store", "ETag": "\"v1\""], false),
      (["Cache-Control": "max-age=60, no-store"], false),
      (["Cache-Control": "max-age=60", "Vary": "*"], false),
      (["ETag": "\"v1\"", "Vary": "Accept, *"], false),
    ] as [(FieldList, Bool)])
  func storing(_ fields: FieldList, _ stores: Bool) {
    #expect(CacheRules.stores(method: "GET", sent: [:], status: 200, fields: fields) == stores)
    for method in ["HEAD", "POST", "PUT", "get"] {
      #expect(!CacheRules.stores(method: method, sent: [:], status: 200, fields: fields))
    }
    for sent in [["Range": "bytes=0-1"], ["Cache-Control": "no-store"]] as [FieldList] {
      #expect(!CacheRules.stores(method: "GET", sent: sent, status: 200, fields: fields))
    }
  }

  @Test("which statuses are stored, said to be fresh or with a validator alone")
  func statuses() {
    for status in 100..<700 {
      func stores(_ fields: FieldList) -> Bool {
        CacheRules.stores(method: "GET", sent: [:], status: status, fields: fields)
      }
      let isNone = !(200..<600 ~= status) || [206, 301, 302, 303, 304, 307, 308].contains(status)
      #expect(stores(["Cache-Control": "max-age=60"]) == !isNone, "\(status)")
      let mayGuess = [200, 203, 204, 300, 404, 405, 410, 414, 501].contains(status)
      #expect(stores(["ETag": "\"v1\""]) == mayGuess, "\(status)")
      #expect(stores(["ETag": "\"v1\"", "Cache-Control": "public"]) == !isNone, "\(status)")
    }
  }

  @Test(
    "how long it is fresh",
    arguments: [
      (["Cache-Control": "max-age=60"], 60), (["Cache-Control": "max-age=60", "Expires": date(5)], 60),
      (["Expires": date(60)], 60), (["Expires": date(60), "Date": date(-10)], 70),
      (["Expires": date(-60)], 0),
      (["Expires": "0"], 0), (["Expires": "Sunday, 06-Nov-94 08:50:37 GMT"], 60),
      (["Expires": "Sun Nov  6 08:50:37 1994"], 60), (["Expires": "Sun, 06 Nov 1994 08:50:37 UTC"], 0),
      (["Expires": "Sun, 06  Nov 1994 08:50:37 GMT"], 0), (["Expires": "Sun, 06 Nov 1994 8:50:37 GMT"], 0),
      (["Expires": date(60), "expires": date(60)], 60), (["Expires": date(60), "Expires": date(61)], 0),
      (["Expires": "0", "Last-Modified": date(-1000)], 0),
      (["Last-Modified": date(-1000)], 100), (["Last-Modified": date(-10_000_000)], 86_400),
      (["Last-Modified": date(1000)], 0), (["Last-Modified": "soon"], 0), ([:], 0), (["ETag": "\"v1\""], 0),
      (["Cache-Control": "s-maxage=60"], 0),
    ] as [(FieldList, Int64)])
  func lifetime(_ fields: FieldList, _ seconds: Int64) {
    #expect(Self.stored(fields).freshnessLifetime == seconds)
  }

  @Test(
    "how old it is",
    arguments: [
      ([:], 0, 0, 0), ([:], 0, 7, 7), ([:], 3, 0, 3), (["Age": "20"], 0, 0, 20), (["Age": "20"], 3, 7, 30),
      (["Date": date(-30)], 0, 0, 30), (["Date": date(-30), "Age": "20"], 0, 7, 37),
      (["Date": date(-30), "Age": "40"], 0, 0, 40), (["Date": date(30)], 0, 0, 0),
      (["Age": "20, 30"], 0, 0, 20),
      (["Age": "x"], 0, 0, 0), (["Age": "-5"], 0, 0, 0),
      // A clock that was set back makes nothing younger than it was.
      (["Age": "20"], 0, -100, 20),
    ] as [(FieldList, Int64, Int64, Int64)])
  func age(_ fields: FieldList, _ delay: Int64, _ later: Int64, _ seconds: Int64) {
    #expect(Self.stored(fields, delay: delay).age(at: Self.then + later) == seconds)
  }

  private enum Outcome { case use, validate, load, unavailable }

  private static func outcome(
    _ stored: StoredHead?, _ sent: FieldList = [:], _ policy: CacheRules.Policy = .useProtocol, after: Int64
  ) -> Outcome {
    switch CacheRules.decide(stored, fields: sent, policy: policy, at: then + after) {
    case .use: .use
    case .validate: .validate
    case .load: .load
    case .unavailable: .unavailable
    }
  }

  @Test("fresh for so long, then asked about, or loaded")
  func freshThenStale() {
    let plain = Self.stored(["Cache-Control": "max-age=60"])
    let tagged = Self.stored(["Cache-Control": "max-age=60", "ETag": "\"v1\""])
    #expect(Self.outcome(plain, after: 59) == .use)
    #expect(Self.outcome(plain, after: 60) == .load)
    #expect(Self.outcome(tagged, after: 59) == .use)
    #expect(Self.outcome(tagged, after: 60) == .validate)
    #expect(Self.outcome(nil, after: 0) == .load)
    let careful = Self.stored(["Cache-Control": "no-cache, max-age=60", "ETag": "\"v1\""])
    #expect(Self.outcome(careful, after: 0) == .validate)
  }

  @Test("what a request says")
  func requests() {
    let head = Self.stored(["Cache-Control": "max-age=60", "ETag": "\"v1\""])
    let strict = Self.stored(["Cache-Control": "max-age=60, must-revalidate", "ETag": "\"v1\""])
    let table: [(sent: String, after: Int64, Outcome, strict: Outcome)] = [
      ("no-cache", 0, .validate, .validate), ("no-store", 0, .load, .load),
      ("max-age=0", 0, .validate, .validate),
      ("max-age=10", 10, .use, .use), ("max-age=10", 11, .validate, .validate),
      ("min-fresh=20", 40, .use, .use),
      ("min-fresh=20", 41, .validate, .validate), ("max-stale", 1000, .use, .validate),
      ("max-stale=10", 70, .use, .validate), ("max-stale=10", 71, .validate, .validate),
      ("only-if-cached", 59, .use, .use), ("only-if-cached", 60, .unavailable, .unavailable),
    ]
    for row in table {
      #expect(Self.outcome(head, ["Cache-Control": row.sent], after: row.after) == row.2, "\(row)")
      #expect(Self.outcome(strict, ["Cache-Control": row.sent], after: row.after) == row.strict, "\(row)")
    }
    #expect(Self.outcome(head, ["Pragma": "no-cache"], after: 0) == .validate)
    #expect(Self.outcome(nil, ["Cache-Control": "only-if-cached"], after: 0) == .unavailable)
  }

  @Test("what the caller's policy says, whatever is fresh")
  func policies() {
    let old = Self.stored(["Cache-Control": "max-age=0", "ETag": "\"v1\""])
    let fresh = Self.stored(["Cache-Control": "max-age=9999"])
    let table: [(CacheRules.Policy, old: Outcome, fresh: Outcome, none: Outcome)] = [
      (.useProtocol, .validate, .use, .load), (.reload, .load, .load, .load),
      (.returnElseLoad, .use, .use, .load), (.returnDontLoad, .use, .use, .unavailable),
      (.revalidate, .validate, .load, .load),
    ]
    for row in table {
      #expect(Self.outcome(old, [:], row.0, after: 10) == row.old, "\(row)")
      #expect(Self.outcome(fresh, [:], row.0, after: 10) == row.fresh, "\(row)")
      #expect(Self.outcome(nil, [:], row.0, after: 10) == row.none, "\(row)")
    }
  }

  @Test("what is looked for: a GET or HEAD of the whole, without the caller's own conditions")
  func lookingUp() {
    for method in ["GET", "HEAD", "POST", "PUT", "get", "OPTIONS"] {
      #expect(
        CacheRules.looksUp(method: method, fields: ["Accept": "x"], policy: .useProtocol)
          == ["GET", "HEAD"].contains(method))
    }
    for name in [
      "range", "If-Range", "If-Match", "IF-NONE-MATCH", "If-Modified-Since", "If-Unmodified-Since",
    ] {
      let fields = FieldList([(name: name, value: "x")])
      #expect(!CacheRules.looksUp(method: "GET", fields: fields, policy: .useProtocol), "\(name)")
    }
    #expect(!CacheRules.looksUp(method: "GET", fields: [:], policy: .reload))
  }

  @Test("the fields that ask whether it is valid")
  func conditions() {
    let date = Self.date(-9)
    #expect(
      Self.stored(["ETag": "W/\"v1\"", "Last-Modified": date]).conditions == [
        "If-None-Match": "W/\"v1\"", "If-Modified-Since": date,
      ])
    #expect(Self.stored(["Last-Modified": "soon", "ETag": ""]).conditions == nil)
  }

  @Test("Vary, and Authorization always, choose among responses")
  func choosing() {
    let sent: FieldList = ["Accept": "a", "X-A": "1", "X-Other": "9"]
    let head = Self.stored(["Vary": "accept ,X-a", "Cache-Control": "max-age=60"], sent: sent)
    #expect(head.isChosen(by: ["x-a": "1", "ACCEPT": "a"]))
    #expect(!head.isChosen(by: ["X-A": "2", "Accept": "a"]))
    #expect(!head.isChosen(by: ["X-A": "1"]))
    #expect(!head.isChosen(by: sent + [("Authorization", "Basic x")]))
    let authorized = Self.stored(["ETag": "\"v1\""], sent: ["Authorization": "Basic x"])
    #expect(authorized.isChosen(by: ["Authorization": "Basic x"]))
    #expect(!authorized.isChosen(by: ["Authorization": "Basic y"]))
    #expect(!authorized.isChosen(by: [:]))
  }

  @Test("a 304 changes fields, but not those of its own message")
  func freshening() {
    var head = Self.stored(
      [
        "ETag": "\"v1\"", "Content-Length": "5", "Content-Type": "text/x", "X-A": "1", "X-A": "2",
        "Age": "50",
        "Cache-Control": "max-age=1",
      ])
    head.freshen(
      by: [
        "Cache-Control": "max-age=60", "X-A": "3", "X-a": "4", "Content-Length": "0",
        "Content-Type": "text/y",
        "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "x", "Transfer-Encoding": "chunked",
      ], requestTime: Self.then + 100, responseTime: Self.then + 101)
    #expect(
      head.fields == [
        "ETag": "\"v1\"", "Content-Length": "5", "Content-Type": "text/x", "Cache-Control": "max-age=60",
        "X-A": "3",
        "X-a": "4",
      ])
    #expect(head.age(at: Self.then + 111) == 11)
    #expect(head.freshnessLifetime == 60)
  }

  @Test("fields for one connection are not stored, those that caching goes by always")
  func connectionFields() {
    let head = Self.stored(
      [
        "Connection": "X-Hop, close, Vary", "X-Hop": "1", "Keep-Alive": "5", "Transfer-Encoding": "chunked",
        "Vary": "A", "X-Kept": "2",
      ], sent: ["A": "1"])
    #expect(head.fields == ["Vary": "A", "X-Kept": "2"])
    #expect(!head.isChosen(by: ["A": "2"]))
  }

  @Test("what makes stored responses invalid")
  func invalidating() {
    for method in ["POST", "PUT", "DELETE", "PATCH", "IGLOO", "get"] {
      for status in [200, 204, 302, 399, 400, 404, 500] {
        #expect(CacheRules.invalidates(method: method, status: status) == (status < 400))
      }
    }
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
      #expect(!CacheRules.invalidates(method: method, status: 200))
    }
  }
}

extension FieldList {
  fileprivate static func + (list: FieldList, more: [(String, String)]) -> FieldList {
    var list = list
    for (name, value) in more { list.append(name: name, value: value) }
    return list
  }
}
