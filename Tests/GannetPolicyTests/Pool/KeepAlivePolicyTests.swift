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

  @Test func theFirstMaximumCountsAndTheLastTimeOut() {
    var policy = KeepAlivePolicy()
    policy.received(FieldList([(name: "keep-alive", value: "timeout=9, max=2")]))
    policy.received(FieldList([(name: "keep-alive", value: "timeout=4, max=1")]))
    policy.received(FieldList())
    #expect(policy.allowsAnother(after: 1))
    #expect(!policy.allowsAnother(after: 2))
    #expect(policy.lifetime(preferring: .seconds(60)) == .seconds(4))
    #expect(policy.lifetime(preferring: .seconds(1)) == .seconds(1))
    #expect(KeepAlivePolicy().lifetime(preferring: .seconds(60)) == .seconds(60))
  }

  @Test(arguments: [(200, true), (201, true), (301, false), (401, false), (413, false), (500, false)])
  func theRestOfABodyIsWantedAfterASuccessOnly(_ status: Int, _ wants: Bool) {
    #expect(EarlyAnswerPolicy.wantsRest(status: status) == wants)
  }
}
