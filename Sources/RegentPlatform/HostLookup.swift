import Glibc

/// Resolves host names with the system's resolver.
public enum HostLookup {
  /// Why a host name was not resolved to an address.
  public enum Failure: Error, Sendable {
    case unknownName
    /// The name servers did not answer, or answered with an error.
    case noAnswer
  }

  /// Whether the name always means the loopback address (RFC 6761), so that no name server is asked.
  public static func isLocalhost(_ name: String) -> Bool { name == "localhost" || name.hasSuffix(".localhost") }

  /// Resolves a name or a numeric address to at least one address.
  ///
  /// Resolving a name can take half a minute, so call this on a separate thread. A numeric address needs no lookup.
  public static func addresses(
    of name: String, port: UInt16 = 0, onlyNumbers: Bool = false
  ) -> Result<[SocketAddress], Failure> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_NUMERICSERV | (onlyNumbers ? AI_NUMERICHOST : 0)
    unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(name, String(port), &hints, &list)
    defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
    guard code == 0 else { return .failure(code == EAI_NONAME || code == noData ? .unknownName : .noAnswer) }
    var found: [SocketAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let address = unsafe entry.pointee.ai_addr,
        let copy = unsafe SocketAddress(copying: address, length: entry.pointee.ai_addrlen)
      {
        found.append(copy)
      }
      unsafe next = entry.pointee.ai_next
    }
    return found.isEmpty ? .failure(.unknownName) : .success(found)
  }

  /// `EAI_NODATA`, for a name without an address.
  ///
  /// Glibc's module does not export it.
  private static let noData: CInt = -5
}
