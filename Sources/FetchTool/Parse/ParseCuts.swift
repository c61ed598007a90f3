/// Which two-piece cuts `--cut every` tries.
package enum ParseCuts {
  /// Inputs up to this length are cut everywhere.
  static let fullBytes = 4 * 1024
  /// Around what is not data, every cut at most this far away is tried.
  static let margin = 64
  /// How many cuts are tried of the rest.
  static let sample = 256
  private static let seed: UInt64 = 0x6761_6E6E_6574

  /// The places to cut an input of `count` bytes of which `data` are ranges of body data, ascending.
  static func places(_ count: Int, data: [Range<Int>]) -> [Int] {
    guard count > fullBytes else { return Array(1..<max(1, count)) }
    var places: [Int] = []
    var quiet: [Range<Int>] = []
    var start = 1
    for range in merged(data) where range.count > 2 * margin {
      let inside = range.lowerBound + margin + 1..<range.upperBound - margin
      guard inside.lowerBound >= start, !inside.isEmpty else { continue }
      places += start..<inside.lowerBound
      quiet.append(inside)
      start = inside.upperBound
    }
    places += start..<max(start, count)
    places += sampled(quiet)
    return places.sorted()
  }

  /// A sample of the places in `ranges`, the same each time.
  private static func sampled(_ ranges: [Range<Int>]) -> Set<Int> {
    let total = ranges.reduce(0) { $0 + $1.count }
    if total <= sample { return Set(ranges.joined()) }
    var state = seed
    var chosen: Set<Int> = []
    while chosen.count < sample {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var index = Int((state >> 33) % UInt64(total))
      for range in ranges {
        if index < range.count {
          chosen.insert(range.lowerBound + index)
          break
        }
        index -= range.count
      }
    }
    return chosen
  }

  private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges {
      if let last = merged.last, last.upperBound == range.lowerBound {
        merged[merged.count - 1] = last.lowerBound..<range.upperBound
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}
