import Foundation

/// A folder of a test's own, removed at its end.
final class Folder {
  let path = FileManager.default.temporaryDirectory.path + "/gannet-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
  func url(_ name: String = "file") -> URL { URL(filePath: path + "/" + name) }
  func bytes(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path + "/" + name).map { [UInt8]($0) }
  }
  func text(_ name: String = "file") -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }
  func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: url(name)) }

  /// Descriptors of this process that are open in it.
  var openDescriptors: Int {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return all.count { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + number)
      return target?.hasPrefix(path) == true
    }
  }
}
