/// What a status line says (RFC 9112 section 4). The reason phrase is a place in the bytes that are kept with the
/// fields: a text is made of it only for those that ask.
struct StatusLine: Sendable {
  var minorVersion: UInt8
  var status: Int
  var reason: Range<Int>
}
