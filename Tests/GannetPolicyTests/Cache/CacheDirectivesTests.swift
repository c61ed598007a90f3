import GannetHTTP
import GannetPolicy
import Testing

/// How `Cache-Control` is read (RFC 9111 section 5.2).
@Suite("CacheDirectives", .timeLimit(.minutes(1)))
struct CacheDirectivesTests {
  private static func read(_ values: String..., ofRequest: Bool = false) -> CacheDirectives {
    CacheDirectives(
      FieldList(values.map { (name: "cache-control", value: $0) }), ofRequest: ofRequest)
  }

  @Test(
    "max-age",
    arguments: [
      ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age = 60", 60),
      ("public, max-age=60", 60), ("foo=\"a, max-age=1\", max-age=60", 60), (",, max-age=60 ,", 60),
      ("max-age=60, max-age=5", 5), ("max-age=060", 60), ("max-age=99999999999999999999999", 1 << 31),
      // What is no number is not reused.
      ("max-age", 0), ("max-age=", 0), ("max-age=x", 0), ("max-age=-1", 0), ("max-age=6.0", 0),
      ("max-age=6 0", 6),
      ("max-age=\"60", 60), ("xmax-age=60", nil), ("s-maxage=60", nil), ("", nil), ("=60", nil),
    ] as [(String, Int64?)])
  func maxAge(_ text: String, _ seconds: Int64?) {
    #expect(Self.read(text).maxAge == seconds)
  }

  @Test("each directive, and all of them in several fields")
  func each() {
    var wanted = CacheDirectives([:])
    #expect(Self.read("frob, proxy-revalidate") == wanted)
    wanted.noStore = true
    #expect(Self.read("No-Store") == wanted)
    wanted.noCache = true
    #expect(Self.read("no-store,no-cache=\"Set-Cookie, X\"") == wanted)
    wanted.mustRevalidate = true
    wanted.isPublic = true
    wanted.isPrivate = true
    wanted.onlyIfCached = true
    wanted.maxStale = 5
    wanted.minFresh = 7
    let all = Self.read(
      "no-store", "no-cache , must-revalidate", "public,private=\"a\"", "only-if-cached, max-stale=5",
      "min-fresh=7")
    #expect(all == wanted)
    #expect(Self.read("max-stale").maxStale == CacheDirectives.unlimited)
  }

  @Test("a request's Pragma counts where there is no Cache-Control")
  func pragma() {
    #expect(CacheDirectives(["Pragma": "x, No-Cache"], ofRequest: true).noCache)
    #expect(!CacheDirectives(["Pragma": "no-cache"]).noCache)
    #expect(!CacheDirectives(["Pragma": "no-cache", "Cache-Control": "max-age=1"], ofRequest: true).noCache)
  }

  @Test("no bytes trap")
  func anyBytes() {
    let pieces = ["max-age", "=", "\"", "\\", ",", " ", "9", "no-store", "\u{FF}"]
    for a in pieces {
      for b in pieces { for c in pieces { for d in pieces { _ = Self.read(a + b + c + d) } } }
    }
  }
}
