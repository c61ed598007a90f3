/// Header or trailer fields in the order they came, with their duplicates and spelling kept (RFC 9110 section 5).
///
/// All names and values lie in one buffer, with their places in it. So a list of any length costs one allocation, a
/// copy of it one count of references, and a `String` is made only for what is asked.
public struct FieldList: Sendable {
  /// The bytes of all names and values, and what stood between them where they were decoded; behind them the places
  /// of each field; behind those the folds of framing fields, until a field is added; then what storage that is used
  /// again held before.
  private var bytes: [UInt8] = []
  /// Bytes of text at the start of `bytes`.
  private var textCount = 0
  private var fieldCount: UInt32 = 0
  private var foldCount: UInt32 = 0
  /// The number of fields.
  public var count: Int { Int(fieldCount) }

  /// Makes an empty list.
  public init() {}

  /// Makes a list of the given names and values, in order. Nothing is validated here: a request's fields are
  /// validated when it is written, before a byte is sent.
  public init(_ fields: some Sequence<(name: String, value: String)>) {
    for field in fields { append(name: field.name, value: field.value) }
  }

  /// Removes every field. With `keepingCapacity` the storage is kept for those that come next, unless another list
  /// shares it.
  public mutating func removeAll(keepingCapacity: Bool = false) {
    bytes.removeAll(keepingCapacity: keepingCapacity)
    textCount = 0
    fieldCount = 0
    foldCount = 0
  }

  /// Adds a field at the end.
  public mutating func append(name: String, value: String) {
    append(name: name.utf8, value: value.utf8)
  }

  /// Adds a field at the end from the bytes of its name and its value, which the caller has validated.
  public mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
    append(name: [UInt8](copying: name), value: [UInt8](copying: value))
  }

  /// Adds the fields of another list at the end, in their order and byte for byte.
  public mutating func append(contentsOf other: FieldList) {
    for index in other.indices { append(copyOf: other, at: index) }
  }

  private mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    let start = textCount
    insert(text: name)
    let valueStart = textCount
    insert(text: value)
    append(FieldPlaces(start, valueStart, valueStart, textCount))
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

  /// The values of every field of this name, in order.
  public func values(for name: String) -> [String] {
    indices.filter { isNamed(name, at: $0) }.map { value(at: $0) }
  }

  /// The value of the first field of this name, or nil. Names compare without case; a value that is not UTF-8
  /// is read as Latin-1.
  public subscript(name: String) -> String? {
    firstIndex(named: name).map { value(at: $0) }
  }

  /// The values of every field of this name joined by a comma and a space (RFC 9110 section 5.3), or nil when
  /// there is none. Not for `Set-Cookie`, whose values hold commas of their own.
  public func combinedValue(for name: String) -> String? {
    guard let first = firstIndex(named: name) else { return nil }
    // Most fields are there once.
    guard firstIndex(named: name, from: first + 1) != nil else { return value(at: first) }
    return values(for: name).joined(separator: ", ")
  }

  /// The position of the first field of this name at or after `start`; names compare without case.
  public func firstIndex(named name: String, from start: Int = 0) -> Int? {
    let length = name.utf8.count
    var index = start
    while index < count {
      // Most names are told apart by their lengths.
      let range = places(at: index).name
      if range.count == length, bytes.span.extracting(range).equalsIgnoringCase(name) { return index }
      index += 1
    }
    return nil
  }

  /// The places of the field at `index`, which must be one of the list's.
  @inline(__always)
  func places(at index: Int) -> FieldPlaces {
    precondition(index >= 0 && index < count, "no field at this position")
    let start = textCount + index * FieldPlaces.byteCount
    return FieldPlaces(bytes.span.extracting(start..<start + FieldPlaces.byteCount))
  }

  /// Lends the bytes of the value at `index`.
  public func withValueBytes<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(bytes.span.extracting(places(at: index).value))
  }

  private func value(at index: Int) -> String { withValueBytes(at: index) { String(fieldText: $0) } }

  /// Whether a field of this name is there.
  public func contains(_ name: String) -> Bool { firstIndex(named: name) != nil }

  /// Lends the bytes of the name at `index`, as received.
  public func withNameBytes<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result {
    body(bytes.span.extracting(places(at: index).name))
  }

  /// Bytes held for all names and values, and for what stood between them where they were decoded.
  public var byteCount: Int { textCount }

  /// Whether the field at `index` has this name, without case.
  public func isNamed(_ name: String, at index: Int) -> Bool {
    bytes.span.extracting(places(at: index).name).equalsIgnoringCase(name)
  }

  private mutating func append(copyOf other: FieldList, at index: Int) {
    other.withNameBytes(at: index) { name in
      other.withValueBytes(at: index) { value in append(name: name, value: value) }
    }
  }

  /// Where the byte at `position` of a value, which lies at `places`, stood in the input it was decoded from.
  func inputOffset(of position: Int, in places: FieldPlaces) -> Int64 {
    // The last fold of this value at or before the position, if any.
    var low = 0
    var high = Int(foldCount)
    while low < high {
      let middle = (low + high) / 2
      if Int(fold(at: middle).textPosition) <= position { low = middle + 1 } else { high = middle }
    }
    if low > 0 {
      let fold = fold(at: low - 1)
      let distance = position - Int(fold.textPosition)
      if fold.textPosition >= places.value.lowerBound { return Int64(fold.inputOffset) + Int64(distance) }
    }
    return places.inputOffset + Int64(position - places.value.lowerBound)
  }

  private func fold(at index: Int) -> FieldFold {
    let start = placesEnd + index * FieldFold.byteCount
    return FieldFold(bytes.span.extracting(start..<start + FieldFold.byteCount))
  }

  /// Where the places of the fields end in `bytes`; folds lie behind.
  private var placesEnd: Int { textCount + count * FieldPlaces.byteCount }
}

extension FieldList {
  /// Makes the list of what a decoder has read: text, with the places of fields in it.
  ///
  /// - Parameter text: is moved into the list, and empty then.
  init(moving text: inout [UInt8], places: Span<FieldPlaces>) {
    swap(&bytes, &text)
    textCount = bytes.count
    fieldCount = UInt32(places.count)
    bytes.append(bytesOf: places)
  }

  /// Makes the list of what a decoder has read, in the storage of another, which is empty then.
  init(_ text: Span<UInt8>, places: Span<FieldPlaces>, in storage: inout [UInt8]) {
    swap(&bytes, &storage)
    bytes.overwrite(with: text, bytesOf: places)
    textCount = text.count
    fieldCount = UInt32(places.count)
  }

  /// Keeps where the values of framing fields go on after folds. For a list whose storage ends with its places, and that
  /// no field is added to.
  mutating func keep(_ folds: Span<FieldFold>) {
    bytes.append(bytesOf: folds)
    foldCount = UInt32(folds.count)
  }

  /// Puts `text` behind the text there is, before the places of the fields.
  private mutating func insert(text: some Collection<UInt8>) {
    bytes.insert(contentsOf: text, at: textCount)
    textCount += text.count
  }

  private mutating func append(_ places: FieldPlaces) {
    bytes.removeLast(bytes.count - placesEnd)
    bytes.append(bytesOf: CollectionOfOne(places).span)
    fieldCount += 1
    foldCount = 0
  }

  /// The storage, for a decoder that keeps it.
  var storage: [UInt8] { bytes }

  /// The text of `range` of the bytes held for all fields.
  func text(_ range: Range<Int>) -> String {
    range.isEmpty ? "" : String(fieldText: bytes.span.extracting(range))
  }
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
  public var endIndex: Int { count }

  /// The field at `position`. Bytes that are not UTF-8 are read as Latin-1.
  public subscript(position: Int) -> Field {
    Field(
      name: withNameBytes(at: position) { String(fieldText: $0) },
      value: value(at: position))
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
    bytes[places(at: index).name]
  }

  private func valueBytes(at index: Int) -> ArraySlice<UInt8> {
    bytes[places(at: index).value]
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
