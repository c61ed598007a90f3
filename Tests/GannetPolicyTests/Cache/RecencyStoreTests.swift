import GannetPolicy
import TestSupport
import Testing

@Suite("RecencyStore", .timeLimit(.minutes(1)))
struct RecencyStoreTests {
  @Test("what was not used for longest goes first")
  func order() {
    var store = RecencyStore<Int>(capacity: 30)
    for number in 1...3 { store.set(number, cost: 10, for: "\(number)") }
    #expect(store.use("1") == 1)
    store.set(4, cost: 10, for: "4")
    #expect(store.use("2") == nil)
    #expect([store.use("1"), store.use("3"), store.use("4")] == [1, 3, 4])
    store.set(5, cost: 20, for: "5")
    #expect([store.use("1"), store.use("3"), store.use("4")] == [nil, nil, 4])
    #expect(store.cost == 30)
  }

  @Test("a value too large is not kept, nor the one it would replace")
  func tooLarge() {
    var store = RecencyStore<Int>(capacity: 30)
    store.set(1, cost: 10, for: "a")
    store.set(2, cost: 31, for: "a")
    #expect(store.use("a") == nil)
    #expect(store.cost == 0)
    store.capacity = -1
    store.set(3, cost: 1, for: "b")
    #expect(store.count == 0)
  }

  @Test("a thousand changes: as a plain list would have it")
  func model() {
    var random = SeededGenerator(seed: 11)
    var store = RecencyStore<Int>(capacity: 100)
    var list: [(name: String, value: Int, cost: Int)] = []
    func forget(_ name: String) { list.removeAll { $0.name == name } }
    for step in 0..<5000 {
      let name = "\(Int.random(in: 0..<20, using: &random))"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let cost = Int.random(in: 0...40, using: &random)
        store.set(step, cost: cost, for: name)
        forget(name)
        if cost <= store.capacity { list.append((name, step, cost)) }
      case 5..<8:
        let value = list.first { $0.name == name }
        #expect(store.use(name) == value?.value)
        if let value {
          forget(name)
          list.append(value)
        }
      case 8:
        store.remove(name)
        forget(name)
      default: store.capacity = Int.random(in: 0...200, using: &random)
      }
      while list.reduce(0, { $0 + $1.cost }) > store.capacity { list.removeFirst() }
      #expect(store.count == list.count)
      #expect(store.cost == list.reduce(0) { $0 + $1.cost })
    }
    for entry in list { #expect(store.use(entry.name) == entry.value) }
    store.removeAll()
    #expect(store.count == 0 && store.cost == 0)
  }
}
