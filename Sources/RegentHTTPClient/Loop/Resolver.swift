import Glibc
import RegentPlatform

/// What is looked up.
struct HostAndPort: Hashable, Sendable {
  let host: String
  let port: UInt16
}

/// Finds the addresses of hosts.
///
/// `getaddrinfo` can block for half a minute, so each name is looked up on a thread of its own; calls for the same name
/// wait for the same look-up. Numbers and "localhost" need no thread and never leave the machine.
final class Resolver {
  private let mailbox: Mailbox
  private var waiting: [HostAndPort: [UInt64]] = [:]
  private var known: [HostAndPort: (addresses: [SocketAddress], until: UInt64)] = [:]

  /// How long an old answer is good enough for a transport that keeps connections by itself, in nanoseconds.
  private static let lifetime: UInt64 = 60_000_000_000

  init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  /// Gives the addresses when that needs no waiting; else the answer comes as a command.
  func lookUp(
    _ place: HostAndPort, for id: UInt64, mayBeOld: Bool
  ) -> Result<[SocketAddress], ClientError.Kind>? {
    if let local = localAddresses(place) { return .success(local) }
    if mayBeOld, let old = known[place], old.until > Clocks.bootNanoseconds() {
      return .success(old.addresses)
    }
    let isFirst = waiting[place] == nil
    waiting[place, default: []].append(id)
    guard isFirst else { return nil }
    let mailbox = mailbox
    do throws(SystemError) {
      try DedicatedThread.start(named: "look-up") {
        mailbox.post(.lookedUp(place, addresses(of: place, flags: AI_NUMERICSERV)))
      }
      return nil
    } catch {
      waiting[place] = nil
      return .failure(.system(error.description))
    }
  }

  /// A look-up is done.
  ///
  /// - Returns: the calls that waited for it.
  func finish(
    _ place: HostAndPort, _ result: Result<[SocketAddress], ClientError.Kind>
  ) -> [UInt64] {
    let now = Clocks.bootNanoseconds()
    known = known.filter { $0.value.until > now }
    if case .success(let addresses) = result {
      known[place] = (addresses, now + Resolver.lifetime)
    }
    return waiting.removeValue(forKey: place) ?? []
  }

  private func localAddresses(_ place: HostAndPort) -> [SocketAddress]? {
    // RFC 6761: this name is the loopback address, whatever a name server would say.
    let isLocalhost = place.host == "localhost" || place.host.hasSuffix(".localhost")
    let hosts = isLocalhost ? ["127.0.0.1", "::1"] : [place.host]
    let found = hosts.compactMap { host in
      try? addresses(
        of: HostAndPort(host: host, port: place.port), flags: AI_NUMERICHOST | AI_NUMERICSERV
      ).get().first
    }
    return found.count == hosts.count ? found : nil
  }
}

private func addresses(
  of place: HostAndPort, flags: CInt
) -> Result<[SocketAddress], ClientError.Kind> {
  var hints = unsafe addrinfo()
  unsafe hints.ai_flags = flags
  unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  let code = unsafe getaddrinfo(place.host, String(place.port), &hints, &list)
  defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
  guard code == 0 else {
    switch code {
    case EAI_NONAME, -5: return .failure(.unreachable(.unknownName))
    default: return .failure(.unreachable(.lookUpFailed))
    }
  }
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
  return found.isEmpty ? .failure(.unreachable(.unknownName)) : .success(found)
}
