import GannetHTTP
import GannetPolicy
import Testing

@Suite struct KeepAlivePolicyTests {
  @Test(arguments: [
    // the field, seconds to idle, exchanges in all
    ("timeout=5, max=100", 5, 100), ("timeout=2", 2, nil), ("max=0", nil, 0), ("Timeout = 7 ,MAX=3", 7, 3),
    ("timeout=99999999", 86_400, nil), ("timeout=-1, max=x, y, =", nil, nil), ("", nil, nil), ("5", nil, nil),
  ])
  func parameters(_ field: String, _ seconds: Int?, _ maximum: Int?) {
    var policy = KeepAlivePolicy()
    policy.received(FieldList([(name: "Keep-Alive", value: field)]))
    #expect(policy.idleTime == seconds.map { .seconds($0) })
    #expect(policy.maximumExchanges == maximum)
  }

  /// It is a list, so it may come in several fields (RFC 9110 section 5.3).
  @Test func parametersInFieldsOfTheirOwn() {
    var policy = KeepAlivePolicy()
    policy.received(["Keep-Alive": "timeout=5", "A": "b", "keep-alive": "max=1"])
    #expect(policy.idleTime == .seconds(5))
    #expect(!policy.allowsAnother(after: 1))
  }

  @Test func theFirstMaximumCountsAndTheLastTimeOut() {
    var policy = KeepAlivePolicy()
    policy.received(FieldList([(name: "keep-alive", value: "timeout=9, max=3")]))
    policy.received(FieldList([(name: "keep-alive", value: "timeout=4, max=9")]))
    policy.received(FieldList())
    #expect(policy.allowsAnother(after: 2))
    #expect(!policy.allowsAnother(after: 3))
    #expect(policy.lifetime(preferring: .seconds(60)) == .seconds(3))
    #expect(policy.lifetime(preferring: .seconds(1)) == .seconds(1))
    #expect(KeepAlivePolicy().lifetime(preferring: .seconds(60)) == .seconds(60))
  }

  /// A request that is on its way when the time is over meets a closed connection.
  @Test(arguments: [(0, 0), (1, 500), (2, 1000), (5, 4000), (60, 59_000), (86_400, 60_000)])
  func theServersTimeIsNotUsedToItsEnd(_ seconds: Int, _ milliseconds: Int) {
    var policy = KeepAlivePolicy()
    policy.received(FieldList([(name: "Keep-Alive", value: "timeout=\(seconds)")]))
    #expect(policy.lifetime(preferring: .seconds(60)) == .milliseconds(milliseconds))
  }

  /// Whatever was said before.
  @Test(arguments: [0, 1])
  func aLastOrLastButOneExchangeEndsIt(_ maximum: Int) {
    var policy = KeepAlivePolicy()
    policy.received(FieldList([(name: "Keep-Alive", value: "max=100")]))
    #expect(policy.allowsAnother(after: 1))
    policy.received(FieldList([(name: "Keep-Alive", value: "max=\(maximum)")]))
    #expect(!policy.allowsAnother(after: 2))
    policy.received(FieldList([(name: "Keep-Alive", value: "max=98")]))
    #expect(policy.allowsAnother(after: 3))
  }
}
