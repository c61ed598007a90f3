import Gannet

let request = URLRequest(string: CommandLine.arguments.dropFirst().first ?? "")
do throws(ConnectionError) {
  for try await picture in URLConnection.parts(for: request, keeping: .newest) {
    print("picture \(picture.response.partIndex ?? 0): \(picture.data.count) bytes")
  }
} catch {
  print("failed: \(error)")
}
