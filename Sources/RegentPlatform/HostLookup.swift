import Glibc

/// Looks up the addresses of a host with the machine's own resolver.
public enum HostLookup {
  /// Why there is no address.
  public enum Failure: Error, Sendable {
    case unknownName
    /// The name servers said nothing, or nothing that helps.
    case noAnswer
  }

  /// Whether a name is the loopback address, whatever a name server would say (RFC 6761).
  public static func isLocalhost(_ name: String) -> Bool { name == "localhost" || name.hasSuffix(".localhost") }

  /// The addresses of a name or a number, at least one.
  ///
  /// A name can take half a minute, so that it is looked up on a thread of its own; a number is read at once.
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

  /// `EAI_NODATA`, a name without an address; Glibc's module does not have it.
  private static let noData: CInt = -5
}
