/// Header or trailer fields in the order they came, with their duplicates and spelling kept (RFC 9110 section 5).
///
/// All names and values lie in one buffer; a field is four offsets into it. So a list of any length costs two
/// allocations, and a `String` is made only for what is asked.
public struct FieldList: Sendable {
  /// One field's places in `bytes`.
  @usableFromInline struct Entry: Sendable {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32
    /// Where the value began in the input it was decoded from: errors found in it later say so. 0 when it was
    /// not decoded.
    var inputOffset: UInt32 = 0
  }

  var bytes: [UInt8] = []
  var entries: [Entry] = []

  /// Makes an empty list.
  public init() {}

  /// Makes a list of the given names and values, in order. Nothing is validated here: a request's fields are
  /// validated when it is written, before a byte is sent.
  public init(_ fields: some Sequence<(name: String, value: String)>) {
    for field in fields { append(name: field.name, value: field.value) }
  }

  /// Adds a field at the end.
  public mutating func append(name: String, value: String) {
    let nameStart = bytes.count
    bytes.append(contentsOf: name.utf8)
    let valueStart = bytes.count
    bytes.append(contentsOf: value.utf8)
    appendEntry(nameStart, valueStart, valueStart, bytes.count)
  }

  /// Adds a field at the end from the bytes of its name and its value, which the caller has validated.
  public mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
    let nameStart = bytes.count
    bytes.append(copying: name)
    let valueStart = bytes.count
    bytes.append(copying: value)
    appendEntry(nameStart, valueStart, valueStart, bytes.count)
  }

  /// Sets the first field of this name to `value`, at its place and in its spelling, and removes the others;
  /// adds the field at the end when there was none. Names compare without case.
  public mutating func set(_ value: String, for name: String) {
    guard let first = firstIndex(named: name) else { return append(name: name, value: value) }
    var rebuilt = FieldList()
    for index in indices {
      if index == first {
        rebuilt.append(name: self[index].name, value: value)
      } else if !isNamed(name, at: index) {
        rebuilt.append(copyOf: self, at: index)
      }
    }
    self = rebuilt
  }

  /// Removes every field of this name; names compare without case.
  public mutating func removeAll(named name: String) {
    guard firstIndex(named: name) != nil else { return }
    var rebuilt = FieldList()
    for index in indices where !isNamed(name, at: index) { rebuilt.append(copyOf: self, at: index) }
    self = rebuilt
  }

  /// The value of the first field of this name, or nil. Names compare without case; a value that is not UTF-8
  /// is read as Latin-1.
  public subscript(name: String) -> String? {
    firstIndex(named: name).map { self[$0].value }
  }

  /// The values of every field of this name, in order.
  public func values(for name: String) -> [String] {
    indices.filter { isNamed(name, at: $0) }.map { self[$0].value }
  }

  /// The values of every field of this name joined by a comma and a space (RFC 9110 section 5.3), or nil when
  /// there is none. Not for `Set-Cookie`, whose values hold commas of their own.
  public func combinedValue(for name: String) -> String? {
    let all = values(for: name)
    return all.isEmpty ? nil : all.joined(separator: ", ")
  }

  /// Whether a field of this name is there.
  public func contains(_ name: String) -> Bool { firstIndex(named: name) != nil }

  /// The position of the first field of this name at or after `start`; names compare without case.
  public func firstIndex(named name: String, from start: Int = 0) -> Int? {
    let length = name.utf8.count
    var index = start
    while index < entries.count {
      // Most names are told apart by their lengths.
      let entry = entries[index]
      if Int(entry.nameEnd &- entry.nameStart) == length, isNamed(name, at: index) { return index }
      index += 1
    }
    return nil
  }

  /// Lends the bytes of the value at `index`.
  public func withValueBytes<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    let entry = entries[index]
    return body(bytes.span.extracting(Int(entry.valueStart)..<Int(entry.valueEnd)))
  }

  /// Lends the bytes of the name at `index`, as received.
  public func withNameBytes<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    let entry = entries[index]
    return body(bytes.span.extracting(Int(entry.nameStart)..<Int(entry.nameEnd)))
  }

  /// Bytes held for all names and values, and for what stood between them where they were decoded.
  public var byteCount: Int { bytes.count }

  /// Whether the field at `index` has this name, without case.
  public func isNamed(_ name: String, at index: Int) -> Bool {
    let entry = entries[index]
    guard Int(entry.nameEnd - entry.nameStart) == name.utf8.count else { return false }
    var position = Int(entry.nameStart)
    for byte in name.utf8 {
      if bytes[position].asciiLowercased != byte.asciiLowercased { return false }
      position += 1
    }
    return true
  }

  private mutating func append(copyOf other: FieldList, at index: Int) {
    other.withNameBytes(at: index) { name in
      other.withValueBytes(at: index) { value in append(name: name, value: value) }
    }
  }

  /// Adds a field whose name and value lie at these places in `bytes`, and whose value began `inputOffset` bytes
  /// into what was decoded.
  mutating func appendEntry(
    _ nameStart: Int, _ nameEnd: Int, _ valueStart: Int, _ valueEnd: Int, inputOffset: Int64 = 0
  ) {
    entries.append(
      Entry(
        nameStart: UInt32(clamping: nameStart), nameEnd: UInt32(clamping: nameEnd),
        valueStart: UInt32(clamping: valueStart), valueEnd: UInt32(clamping: valueEnd),
        inputOffset: UInt32(clamping: inputOffset)))
  }

  /// Where the value of the field at `index` began in the input it was decoded from.
  func inputOffset(at index: Int) -> Int64 { Int64(entries[index].inputOffset) }
}

/// One field of a message: its name as spelled and its value without the white space around it.
public struct Field: Hashable, Sendable {
  /// The name, in the spelling received or given.
  public var name: String
  /// The value.
  public var value: String

  /// Makes a field.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension FieldList: RandomAccessCollection {
  /// The position of the first field: 0.
  public var startIndex: Int { 0 }
  /// One past the last position: the number of fields.
  public var endIndex: Int { entries.count }

  /// The field at `position`. Bytes that are not UTF-8 are read as Latin-1.
  public subscript(position: Int) -> Field {
    Field(
      name: withNameBytes(at: position) { String(fieldText: $0) },
      value: withValueBytes(at: position) { String(fieldText: $0) })
  }
}

extension FieldList: Hashable {
  /// Whether both hold the same fields in the same order and spelling.
  public static func == (left: FieldList, right: FieldList) -> Bool {
    guard left.count == right.count else { return false }
    return left.indices.allSatisfy {
      left.nameBytes(at: $0) == right.nameBytes(at: $0)
        && left.valueBytes(at: $0) == right.valueBytes(at: $0)
    }
  }

  /// Feeds every field, in order.
  public func hash(into hasher: inout Hasher) {
    for index in indices {
      hasher.combine(nameBytes(at: index))
      hasher.combine(valueBytes(at: index))
    }
  }

  private func nameBytes(at index: Int) -> ArraySlice<UInt8> {
    bytes[Int(entries[index].nameStart)..<Int(entries[index].nameEnd)]
  }

  private func valueBytes(at index: Int) -> ArraySlice<UInt8> {
    bytes[Int(entries[index].valueStart)..<Int(entries[index].valueEnd)]
  }
}

extension FieldList: ExpressibleByDictionaryLiteral {
  /// Makes a list of the literal's names and values, in order and with their duplicates.
  public init(dictionaryLiteral fields: (String, String)...) {
    for (name, value) in fields { append(name: name, value: value) }
  }
}

extension FieldList: CustomStringConvertible {
  /// The fields as lines, `Name: value`.
  public var description: String { map { "\($0.name): \($0.value)\n" }.joined() }
}
