import GannetHTTP

/// A URL, and a reference after a NUL. What was read is read again the same, and its canonical form is one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    let halves = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let url = try? HTTPURL(String(decoding: halves[0], as: UTF8.self)) else { return }
    check(url)
    if halves.count > 1, let target = try? url.resolving(Array(halves[1]).span) { check(target) }
  }
}

private func check(_ url: HTTPURL) {
  require((try? HTTPURL(url.text)) == url, "its text is not read again")
  let canonical = url.canonical
  require(canonical.isCanonical && canonical.canonical == canonical, "the canonical form is none")
  require(canonical.origin == url.origin, "the canonical form has another origin")
  for text in [url.requestTarget, url.hostField, canonical.requestTarget, canonical.hostField] {
    require(text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "bytes that may not be sent")
  }
  _ = (url.user, url.password, url.zone, url.query, url.fragment, url.withoutUserInfo, url.description)
}
