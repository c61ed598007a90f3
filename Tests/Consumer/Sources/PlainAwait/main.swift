// The shortest way: await the whole body.
import Gannet

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: PlainAwait URL")
}
do {
  let (data, response) = try await URLConnection.data(for: URLRequest(url: url))
  print(response.statusCode, data.count)
} catch {
  print(error)
}
