import GannetHTTP

/// The length that the fields of a part promise, read as the hint it is: cameras write `23100 bytes`, `23100;`,
/// `0x100` and `%d` there.
enum PromisedLength {
  /// The number that the first `Content-Length` begins with. Nil when there is none, when it runs into letters or
  /// past 2⁶³−1, and for 0, which cameras that do not know the length send: an empty part ends at its delimiter
  /// anyway.
  static func read(_ fields: FieldList) -> Int64? {
    guard let index = fields.firstIndex(named: "Content-Length") else { return nil }
    return fields.withValueBytes(at: index) { value in
      var length: Int64 = 0
      var position = 0
      while position < value.count, value[position].isDigit {
        let (tenfold, overflow) = length.multipliedReportingOverflow(by: 10)
        let (next, carry) = tenfold.addingReportingOverflow(Int64(value[position] - 0x30))
        if overflow || carry { return nil }
        length = next
        position += 1
      }
      let runsIntoLetters = position < value.count && value[position].asciiLowercased &- 0x61 < 26
      return length == 0 || runsIntoLetters ? nil : length
    }
  }
}
