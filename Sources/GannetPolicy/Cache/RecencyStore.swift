/// Values by name, each of a cost; past the capacity those that were not used for longest are let go.
package struct RecencyStore<Value> {
  fileprivate struct Node {
    var name: String
    var value: Value
    var cost: Int
    /// The next one used before this, and the next one used after it.
    var older: Int?
    var newer: Int?
  }

  private var places: [String: Int] = [:]
  private var nodes: [Node?] = []
  private var free: [Int] = []
  private var oldest: Int?
  private var newest: Int?

  /// What all values cost together.
  package private(set) var cost = 0
  /// How much they may cost together; less than 0 is 0.
  package var capacity: Int { didSet { shrink() } }

  package init(capacity: Int) { self.capacity = capacity }

  package var count: Int { places.count }

  /// The value of this name, which is used now.
  package mutating func use(_ name: String) -> Value? {
    guard let place = places[name] else { return nil }
    unlink(place)
    link(place)
    return nodes[place]?.value
  }

  /// Keeps a value, in place of the one of its name; nothing of that name is kept when it costs more than all may.
  package mutating func set(_ value: Value, cost: Int, for name: String) {
    remove(name)
    guard cost <= capacity else { return }
    let node = Node(name: name, value: value, cost: cost, older: nil, newer: nil)
    let place: Int
    if let last = free.popLast() {
      place = last
      nodes[place] = node
    } else {
      place = nodes.count
      nodes.append(node)
    }
    places[name] = place
    self.cost += cost
    link(place)
    shrink()
  }

  package mutating func remove(_ name: String) {
    guard let place = places.removeValue(forKey: name) else { return }
    unlink(place)
    cost -= nodes[place]?.cost ?? 0
    nodes[place] = nil
    free.append(place)
  }

  package mutating func removeAll() { self = RecencyStore(capacity: capacity) }

  private mutating func shrink() {
    while cost > max(0, capacity), let oldest, let name = nodes[oldest]?.name { remove(name) }
  }

  private mutating func link(_ place: Int) {
    nodes[place]?.older = newest
    nodes[place]?.newer = nil
    if let newest { nodes[newest]?.newer = place }
    newest = place
    if oldest == nil { oldest = place }
  }

  private mutating func unlink(_ place: Int) {
    let (older, newer) = (nodes[place]?.older, nodes[place]?.newer)
    if let older { nodes[older]?.newer = newer } else { oldest = newer }
    if let newer { nodes[newer]?.older = older } else { newest = older }
  }
}

extension RecencyStore: Sendable where Value: Sendable {}
extension RecencyStore.Node: Sendable where Value: Sendable {}
