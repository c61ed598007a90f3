import FoundationEssentials
package import GannetSockets
import Testing

/// The recordings under `Fixtures`, found from this file's own place.
package enum Fixtures {
  /// The folder they are in.
  package static let folder =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Fixtures"

  /// Names of the `.wire` files, from the folder on and without their ending, in order.
  package static let names: [String] = {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return paths.filter { $0.hasSuffix(".wire") }.map { String($0.dropLast(5)) }.sorted()
  }()

  /// What a file holds.
  package static func bytes(_ name: String) throws -> [UInt8] {
    Array(try #require(FileManager.default.contents(atPath: folder + "/" + name)))
  }

  /// The recording of this name.
  package static func recording(_ name: String) throws -> Recording {
    try RecordingParser.parse(bytes(name + ".wire"))
  }
}
