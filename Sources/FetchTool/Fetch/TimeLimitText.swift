extension Duration {
  /// `1 second`, `0.5 seconds`.
  package var secondsText: String {
    let number = Double(components.seconds) + Double(components.attoseconds) / 1e18
    let text = number == number.rounded() ? String(Int(number)) : String(number)
    return text == "1" ? "1 second" : text + " seconds"
  }
}
