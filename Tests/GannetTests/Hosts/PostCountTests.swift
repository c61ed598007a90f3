import Gannet
import Testing

/// Who stands in a host's way wakes it: nothing else would.
@Suite struct PostCountTests {
  @Test func theLastToLeaveWakesAHostThatWaits() {
    let posts = PostCount()
    #expect(posts.isZero())
    posts.enter()
    posts.enter()
    #expect(!posts.isZero())
    #expect(!posts.isZero())
    #expect(!posts.leave())
    // One that comes while the host waits is waited for too.
    posts.enter()
    #expect(!posts.leave())
    #expect(posts.leave())
    #expect(posts.isZero())
  }

  @Test func nobodyIsWokenThatDoesNotWait() {
    let posts = PostCount()
    posts.enter()
    #expect(!posts.leave())
    posts.enter()
    #expect(!posts.isZero())
    #expect(posts.leave())
    // Once woken, it has to ask again.
    posts.enter()
    #expect(!posts.leave())
  }

  /// As a host and its posters do it: whoever finds the other in the way leaves it to the other to go on.
  @Test func oneOfTheTwoAlwaysGoesOn() async {
    for _ in 0..<2000 {
      let posts = PostCount()
      posts.enter()
      async let wakes = Task.detached { posts.leave() }.value
      let leaves = posts.isZero()
      let isWoken = await wakes
      #expect(leaves || isWoken)
    }
  }
}
