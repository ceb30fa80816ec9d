import RegentPlatform

/// The host and the port of a lookup.
struct HostAndPort: Hashable, Sendable {
  let host: String
  let port: UInt16
}

/// Looks up the addresses of hosts.
///
/// Each name is looked up on its own thread; calls for the same name share one lookup. IP addresses and "localhost"
/// need no thread and no name server. A name under `.local` is also looked up by multicast DNS, on a second thread; the
/// first address counts.
final class Resolver {
  private let mailbox: Mailbox
  private var waiting: [HostAndPort: [UInt64]] = [:]
  /// The names for which two lookups run.
  private var isLookedUpTwice: Set<HostAndPort> = []
  private var known: [HostAndPort: (addresses: [SocketAddress], until: UInt64)] = [:]

  /// How long the result of a lookup is used again, in nanoseconds.
  ///
  /// A result that arrives after its call timed out can serve the next call.
  private static let lifetime: UInt64 = 60_000_000_000

  init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  /// Returns the addresses of a host if they are known without waiting.
  ///
  /// Otherwise starts a lookup, whose result arrives as a command.
  func lookUp(_ place: HostAndPort, for id: UInt64) -> Result<[SocketAddress], ClientError.Kind>? {
    if let local = localAddresses(place) { return .success(local) }
    if let old = known[place], old.until > Clocks.bootNanoseconds() {
      return .success(old.addresses)
    }
    let isFirst = waiting[place] == nil
    waiting[place, default: []].append(id)
    guard isFirst else { return nil }
    let mailbox = mailbox
    do throws(SystemError) {
      try DedicatedThread.start(named: "look-up") {
        mailbox.post(.lookedUp(place, place.addresses()))
      }
      if LocalNames.contains(place.host) { lookUpOnNetwork(place) }
      return nil
    } catch {
      waiting[place] = nil
      return .failure(.system(error.description))
    }
  }

  /// Stores the result of a lookup.
  ///
  /// - Returns: the ids of the calls that wait for it.
  func finish(
    _ place: HostAndPort, _ result: Result<[SocketAddress], ClientError.Kind>
  ) -> [UInt64] {
    let isFirst = isLookedUpTwice.remove(place) != nil
    if case .failure = result, isFirst { return [] }
    let now = Clocks.bootNanoseconds()
    known = known.filter { $0.value.until > now }
    if case .success(let addresses) = result, known[place] == nil {
      known[place] = (addresses, now + Resolver.lifetime)
    }
    return waiting.removeValue(forKey: place) ?? []
  }

  private func lookUpOnNetwork(_ place: HostAndPort) {
    let mailbox = mailbox
    isLookedUpTwice.insert(place)
    do throws(SystemError) {
      try DedicatedThread.start(named: "look-up local") {
        let found = LocalNames.addresses(of: place.host, port: place.port)
        mailbox.post(.lookedUp(place, found.isEmpty ? .failure(.unreachable(.unknownName)) : .success(found)))
      }
    } catch {
      isLookedUpTwice.remove(place)
    }
  }

  /// Whether the address to try first is known: the host is localhost, or only one address is stored for it, for
  /// example the one that has answered before.
  func knowsFirst(of place: HostAndPort) -> Bool {
    HostLookup.isLocalhost(place.host) || known[place]?.addresses.count == 1
  }

  /// Keeps only the address that answered, of all addresses of the host.
  ///
  /// If this address fails later, the name is looked up again.
  func keep(_ address: SocketAddress, of place: HostAndPort) { known[place]?.addresses = [address] }

  /// Forgets the results of all lookups, because the network has changed.
  func forget() { known = [:] }

  /// Forgets the addresses of one host, because none of them answered.
  func forget(_ place: HostAndPort) { known[place] = nil }

  private func localAddresses(_ place: HostAndPort) -> [SocketAddress]? {
    let hosts = HostLookup.isLocalhost(place.host) ? ["127.0.0.1", "::1"] : [place.host]
    let found = hosts.compactMap { host in
      try? HostAndPort(host: host, port: place.port).addresses(onlyNumbers: true).get().first
    }
    return found.count == hosts.count ? found : nil
  }
}

extension HostAndPort {
  fileprivate func addresses(onlyNumbers: Bool = false) -> Result<[SocketAddress], ClientError.Kind> {
    HostLookup.addresses(of: host, port: port, onlyNumbers: onlyNumbers).mapError { failure in
      switch failure {
      case .unknownName: .unreachable(.unknownName)
      case .noAnswer: .unreachable(.lookUpFailed)
      }
    }
  }
}
