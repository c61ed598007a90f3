import Gannet
import GannetSockets

/// Standard input, piece by piece as it comes, read on a thread of its own: whoever feeds it may take his time.
struct InputPieces: AsyncSequence, Sendable {
  typealias Element = Data

  private static let reader = DispatchQueue(label: "gannet standard input")

  func makeAsyncIterator() -> Iterator { Iterator() }

  struct Iterator: AsyncIteratorProtocol {
    func next() async throws -> Data? {
      try await withCheckedThrowingContinuation { continuation in
        InputPieces.reader.async {
          do throws(SystemError) {
            let piece = try InputFile.readPiece()
            continuation.resume(returning: piece.isEmpty ? nil : Data(piece))
          } catch { continuation.resume(throwing: error) }
        }
      }
    }
  }
}
