import Gannet
import GannetHTTP
import Synchronization
import TestSupport
import Testing

/// The cache as a program may use it by itself.
@Suite("URLCache", .timeLimit(.minutes(1)))
struct URLCacheTests {
  /// A response, as a load gave it.
  private static func response(_ fields: String = "", body: String = "one") throws -> CachedURLResponse {
    let log = CallbackLog()
    _ = try Loading.run("http://h/a", [.ok(body, fields)], log)
    return CachedURLResponse(response: log.responses[0], data: Data(body.utf8))
  }

  @Test func whatIsStoredIsFound() throws {
    let cache = URLCache(memoryCapacity: 1 << 20)
    let request = URLRequest(string: "http://u:p@H/a#x")
    #expect(cache.cachedResponse(for: request) == nil)
    cache.storeCachedResponse(try Self.response(), for: request)
    let found = try #require(cache.cachedResponse(for: URLRequest(string: "http://h:80/a")))
    #expect(found.data == Data("one".utf8))
    #expect((found.response as? HTTPURLResponse)?.statusCode == 200)
    #expect(found.storagePolicy == .allowed)
    #expect(cache.currentMemoryUsage > 3)
    var post = request
    post.httpMethod = "POST"
    #expect(cache.cachedResponse(for: post) == nil)
    cache.removeCachedResponse(for: URLRequest(string: "http://h/a"))
    #expect(cache.cachedResponse(for: request) == nil)
    #expect(cache.currentMemoryUsage == 0)
  }

  @Test func whatMayNotBeStoredIsNot() throws {
    let cache = URLCache(memoryCapacity: 1 << 20)
    var post = URLRequest(string: "http://h/a")
    post.httpMethod = "POST"
    cache.storeCachedResponse(try Self.response(), for: post)
    let one = try Self.response()
    let forbidden = CachedURLResponse(response: one.response, data: one.data, storagePolicy: .notAllowed)
    cache.storeCachedResponse(forbidden, for: URLRequest(string: "http://h/a"))
    cache.storeCachedResponse(one, for: URLRequest(string: "::"))
    // No request chooses it (RFC 9111 section 4.1).
    cache.storeCachedResponse(
      try Self.response("Vary: A, *\r\nCache-Control: max-age=60\r\n"), for: URLRequest(string: "http://h/a"))
    #expect(cache.currentMemoryUsage == 0)
  }

  @Test func theCapacityHolds() throws {
    let cache = URLCache(memoryCapacity: 20_000)
    let one = try Self.response(body: String(repeating: "x", count: 1000))
    for number in 0..<100 {
      cache.storeCachedResponse(one, for: URLRequest(string: "http://h/\(number)"))
      #expect(cache.currentMemoryUsage <= 20_000)
    }
    #expect(cache.cachedResponse(for: URLRequest(string: "http://h/99")) != nil)
    #expect(cache.cachedResponse(for: URLRequest(string: "http://h/0")) == nil)
    cache.memoryCapacity = 3000
    #expect(cache.currentMemoryUsage <= 3000)
    #expect(cache.memoryCapacity == 3000)
    // Responses to one URL that Vary tells apart are bounded too.
    let many = URLCache(memoryCapacity: 1 << 20)
    let varying = try Self.response("Vary: X-A\r\n")
    for number in 0..<100 {
      var request = URLRequest(string: "http://h/")
      request.setValue("\(number)", forHTTPHeaderField: "X-A")
      many.storeCachedResponse(varying, for: request)
    }
    #expect(many.currentMemoryUsage < 16 * 1024)
    many.removeAllCachedResponses()
    #expect(many.currentMemoryUsage == 0)
  }

  @Test func threadsMayShareIt() async throws {
    let cache = URLCache(memoryCapacity: 100_000)
    let one = try Self.response()
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<200 {
            let request = URLRequest(string: "http://h/\((number * 7 + task) % 50)")
            cache.storeCachedResponse(one, for: request)
            _ = cache.cachedResponse(for: request)
            if number % 50 == 0 { cache.removeCachedResponse(for: request) }
          }
        }
      }
    }
    #expect(cache.currentMemoryUsage > 0)
  }
}
