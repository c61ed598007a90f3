import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Resolver {
  /// Asks the C library, and so the name services that the system is configured for. Blocks.
  @Sendable package static func askSystem(_ host: String, port: UInt16) -> Answer {
    // SAFETY: getaddrinfo reads the terminated name and the hints, and gives a list that is ours until freeaddrinfo.
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Platform.stream
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, nil, &hints, &list)
    let errno = lastErrno
    guard code == 0 else {
      return .failure(ResolveFailure(code: code, errno: code == CInt(EAI_SYSTEM) ? errno : nil))
    }
    // SAFETY: each entry of the list, and the address in it, lives until the `defer`; an address is as long as its
    // family says.
    defer { unsafe freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let found = unsafe entry.pointee.ai_addr, let address = unsafe SocketAddress(found, port: port),
        !addresses.contains(address)
      {
        addresses.append(address)
      }
      unsafe next = entry.pointee.ai_next
    }
    guard !addresses.isEmpty else { return .failure(ResolveFailure(code: CInt(EAI_NONAME))) }
    return .success(addresses)
  }

  /// The C library's words for what `getaddrinfo` returned.
  static func words(for code: CInt) -> String {
    // SAFETY: gai_strerror gives a terminated constant.
    unsafe String(cString: gai_strerror(code))
  }
}
