import RegentPlatform

/// What is looked up.
struct HostAndPort: Hashable, Sendable {
  let host: String
  let port: UInt16
}

/// Finds the addresses of hosts.
///
/// Each name is looked up on a thread of its own; calls for the same name wait for the same look-up. Numbers and
/// "localhost" need no thread and never leave the machine.
final class Resolver {
  private let mailbox: Mailbox
  private var waiting: [HostAndPort: [UInt64]] = [:]
  private var known: [HostAndPort: (addresses: [SocketAddress], until: UInt64)] = [:]

  /// How long an answer is used again, in nanoseconds.
  ///
  /// One that came too late for its call serves the next call.
  private static let lifetime: UInt64 = 60_000_000_000

  init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  /// Gives the addresses when that needs no waiting; else the answer comes as a command.
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

  /// Whether it is known which address of a place answers; a number is its own.
  func knowsFirst(of place: HostAndPort) -> Bool {
    HostLookup.isLocalhost(place.host) || known[place]?.addresses.count == 1
  }

  /// Keeps only the address that answered; when it fails, the name is looked up again.
  func keep(_ address: SocketAddress, of place: HostAndPort) { known[place]?.addresses = [address] }

  /// Forgets what it knows: the network is another one.
  func forget() { known = [:] }

  /// Forgets one place: no address of it answers.
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
