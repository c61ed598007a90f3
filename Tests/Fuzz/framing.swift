import GannetHTTP

/// How a body's end is found and whether the connection lasts, compared with a model that is written from RFC 9112
/// sections 6.3 and 9.3 alone, on texts instead of bytes. The second byte chooses the answer, the third its status; the rest
/// is the field lines, or a list of the pieces that they are made of.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 3 else { return }
    let statuses = [200, 200, 200, 204, 304, 101, 100, 103, 199, 206, 404, 407, 299, 300, 205, 999]
    let status = statuses[Int(bytes[2] & 15)]
    let method = ["GET", "HEAD", "CONNECT", "POST", "head", "PUT", "DELETE", "OPTIONS"][Int(bytes[1] & 7)]
    let versions = ["HTTP/1.1", "HTTP/1.0", "HTTP/1.7", "ICY"]
    let line = "\(versions[Int(bytes[1] >> 3 & 3)]) \(status) x\r\n"
    let rest = bytes.dropFirst(3)
    let lines = bytes[1] & 32 > 0 ? Array(rest) : rest.prefix(80).flatMap { pieces[Int($0) % pieces.count] }
    let input = Array(line.utf8) + lines + Array("\r\n\r\n".utf8)
    checkCuts(input, choice: bytes[0], { ResponseHeadDecoder() }) {
      decoder, input, trace throws(SyntaxError) in
      let (consumed, head) = try decoder.step(input)
      guard let head else { return (consumed, false) }
      let decided = decision(head, method)
      trace.add(decided)
      let wanted = FramingModel(head, answering: method).decision
      require(decided == wanted, "\(method) \(head): \(decided), by the rules \(wanted)")
      return (consumed, true)
    }
  }
}

private func decision(_ head: ResponseHead, _ method: String) -> String {
  do throws(SyntaxError) {
    let (framing, persistence) = try BodyFraming.decide(for: head, answering: method)
    return "\(framing) \(persistence)"
  } catch {
    return error.rule.rawValue
  }
}

private let pieces: [[UInt8]] = [
  "Content-Length: ", "Transfer-Encoding: ", "Connection: ", "Proxy-Connection: ", "X: ", "content-length:",
  "TRANSFER-ENCODING:", "chunked", "Chunked", "gzip", "identity", "close", "keep-alive", "Close", "0", "5",
  "05", "6", "00", ", ", ",",
  "\r\n", "\r\n", "\r\n ", "\n", " ", "\t", "-", "+", "x", "9223372036854775807", "9223372036854775808", "\"",
  ";q=1",
  "Content-Type: multipart/x-mixed-replace\r\n", "Content-Type: text/plain\r\n", ":",
].map { Array($0.utf8) }

/// What RFC 9112 says of a head, with the decisions of docs/CONFORMANCE.md where it leaves one open.
private struct FramingModel {
  let decision: String

  init(_ head: ResponseHead, answering method: String) {
    let fields = head.fields.map { (name: $0.name.lowercased(), value: Array($0.value.lowercased().utf8)) }
    /// The members of the lists in the fields of a name; empty ones too.
    func members(_ name: String) -> [String] {
      fields.filter { $0.name == name }.flatMap { field in
        field.value.split(separator: 0x2C, omittingEmptySubsequences: false).map { member in
          let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
          return String(
            decoding: member.drop(while: isBlank).reversed().drop(while: isBlank).reversed(), as: UTF8.self)
        }
      }
    }
    let codings = members("transfer-encoding")
    let hasCoding = fields.contains { $0.name == "transfer-encoding" }
    let lengths = members("content-length")
    let isInformational = head.status < 200
    var tolerated = head.tolerated
    let framing: BodyFraming
    if head.status == 101 || method == "CONNECT" && head.status / 100 == 2 && head.status != 204 {
      framing = .upgrade
    } else if isInformational || [204, 304].contains(head.status) || method == "HEAD" {
      framing = .none
      if isInformational || head.status == 204, hasCoding || lengths.contains(where: { $0 != "0" }) {
        tolerated.insert(.lengthWithoutBody)
      }
    } else if hasCoding {
      let named = codings.filter { !$0.isEmpty }
      if named.last == "chunked" {
        if named.count(where: { $0 != "identity" }) > 1 {
          decision = "transfer-encoding"
          return
        }
        framing = .chunked
        if codings != ["chunked"] { tolerated.insert(.codingSpelling) }
      } else {
        framing = .close
      }
    } else if lengths.isEmpty {
      framing = .close
    } else {
      let numbers = lengths.map { text -> Int64? in
        text.utf8.allSatisfy { $0 >= 48 && $0 <= 57 } ? Int64(text) : nil
      }
      guard let number = numbers[0], numbers.allSatisfy({ $0 == number }) else {
        decision = "content-length"
        return
      }
      if lengths.contains(where: { $0.count > 1 && $0.hasPrefix("0") }) { tolerated.insert(.lengthSpelling) }
      framing = .length(number)
    }

    let options = members("connection")
    var reason: Persistence?
    if framing == .upgrade {
      reason = .upgraded
    } else if !isInformational {
      if options.contains("close") || members("proxy-connection").contains("close") {
        reason = .closeRequested
      } else if head.minorVersion == 0, framing == .chunked {
        reason = .transferEncodingInHTTP10
      } else if head.minorVersion == 0, !options.contains("keep-alive") {
        reason = .http10
      } else if framing == .close {
        reason = .framedByClose
      } else if framing == .chunked, !lengths.isEmpty {
        reason = .lengthWithTransferEncoding
      }
    }
    let isStream = MediaType(contentTypeOf: head.fields)?.essence == "multipart/x-mixed-replace"
    let isLast = reason == .http10 || reason == .closeRequested
    let end = framing == .length(0) && isLast && isStream ? BodyFraming.close : framing
    decision = "\(end) \(reason ?? (tolerated.isEmpty ? .reusable : .tolerated(tolerated)))"
  }
}
