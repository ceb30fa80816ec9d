public import RegentHTTPCodec

/// Where a request comes from, as far as it can be known.
public struct ClientOrigin: Sendable, Equatable {
  /// The scheme the client itself used.
  public enum Scheme: String, Sendable {
    case http
    case https
  }

  /// The client's address: of the socket, or vouched for by trusted proxies; nil for a Unix socket.
  public var address: IPAddress?
  /// The scheme, of the listener or vouched for by trusted proxies.
  public var scheme: Scheme
  /// The host the client asked the proxy for, when a trusted proxy says so; nil means the `Host` header counts.
  public var forwardedHost: HostAndPort?
  /// How many trusted proxies were believed.
  public var hops = 0

  /// The facts of the socket alone.
  public init(address: IPAddress?, scheme: Scheme) {
    self.address = address
    self.scheme = scheme
  }
}

/// A host with a port, as a proxy reports it.
public struct HostAndPort: Sendable, Hashable {
  public let host: HostName
  /// The port, when one was named.
  public let port: Int?

  /// Reads `host` or `host:port`.
  public init?(parsing text: String) {
    guard let url = try? AbsoluteURL(parsing: "http://\(text)"), url.path.isEmpty,
      url.query == nil, url.fragment == nil
    else { return nil }
    host = url.host
    port = url.port
  }
}

/// The header lines in which proxies say where a request comes from.
public struct ForwardedHeaders: Sendable, Equatable {
  /// The values of all `Forwarded` lines (RFC 7239), in order.
  public var forwarded: [String]
  /// The values of all `X-Forwarded-For` lines, in order.
  public var forwardedFor: [String]
  /// The values of all `X-Forwarded-Proto` lines, in order.
  public var forwardedProto: [String]
  /// The values of all `X-Forwarded-Host` lines, in order.
  public var forwardedHost: [String]

  /// The lines of one request.
  public init(
    forwarded: [String] = [], forwardedFor: [String] = [], forwardedProto: [String] = [],
    forwardedHost: [String] = []
  ) {
    self.forwarded = forwarded
    self.forwardedFor = forwardedFor
    self.forwardedProto = forwardedProto
    self.forwardedHost = forwardedHost
  }
}

/// The proxies whose word is taken for where a request comes from (`--trust-proxy`).
///
/// Anybody can write these headers. So they are read from the right, where the nearest proxy wrote, and only as long as
/// the hop that wrote the entry is itself trusted; an entry that is not an address ends the walk at the last fact.
/// When `Forwarded` and `X-Forwarded-For` are both there and disagree, one of them came from the client through a proxy
/// that knows only the other. That other is `X-Forwarded-For` with nearly every proxy, the examples of ours included,
/// so it counts. To believe neither would make the proxy's address the client's: whoever writes one line of `Forwarded`
/// would be counted with nobody, or with all who do the same. A proxy that writes `Forwarded` has to clear the other.
public struct TrustedProxies: Sendable, Equatable {
  /// The most entries that are walked; more hops than this nobody has.
  static let maximumHops = 16

  private let networks: [IPNetwork]
  private let trustsLocalSocket: Bool

  /// Nobody is trusted unless named; a Unix socket only when said so.
  public init(_ networks: [IPNetwork] = [], trustsLocalSocket: Bool = false) {
    self.networks = networks
    self.trustsLocalSocket = trustsLocalSocket
  }

  /// Whether no proxy is trusted, so that the headers need not be collected at all.
  public var isEmpty: Bool { networks.isEmpty && !trustsLocalSocket }

  /// Whether the word of this peer is taken; nil stands for a Unix socket.
  public func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return trustsLocalSocket }
    return networks.contains { $0.contains(peer) }
  }

  /// Where the request really comes from, given the facts of the socket and what the headers claim.
  public func origin(of socket: ClientOrigin, claimed headers: ForwardedHeaders) -> ClientOrigin {
    guard trusts(socket.address) else { return socket }
    let standard = headers.forwarded.isEmpty ? nil : walk(socket, standardEntries(headers))
    let common = headers.forwardedFor.isEmpty ? nil : walk(socket, commonEntries(headers))
    switch (standard, common) {
    case (nil, nil): return walk(socket, commonEntries(headers))
    case (let only?, nil), (nil, let only?): return only
    case (let standard?, let common?):
      guard standard.address == common.address else { return common }
      // The scheme is believed only where nothing contradicts it.
      var agreed = standard
      if standard.scheme != common.scheme, standard.scheme != socket.scheme,
        common.scheme != socket.scheme
      {
        agreed.scheme = socket.scheme
      }
      return agreed
    }
  }

  /// One claim of one hop; a nil address ends the walk.
  private struct Entry {
    var address: IPAddress?
    var scheme: ClientOrigin.Scheme?
    var host: HostAndPort?
    var isMalformed = false
  }

  /// `entries` in the order of the header: the nearest proxy wrote the last one.
  private func walk(_ socket: ClientOrigin, _ entries: [Entry]) -> ClientOrigin {
    var origin = socket
    for entry in entries.reversed().prefix(Self.maximumHops) {
      guard trusts(origin.address), !entry.isMalformed else { break }
      if let scheme = entry.scheme { origin.scheme = scheme }
      if let host = entry.host { origin.forwardedHost = host }
      guard let address = entry.address else { break }
      origin.address = address
      origin.hops += 1
    }
    return origin
  }

  private func standardEntries(_ headers: ForwardedHeaders) -> [Entry] {
    headers.forwarded.flatMap { HeaderList.items($0) }.map { item in
      var entry = Entry()
      var seen: Set<String> = []
      for part in HeaderList.parts(item) where !part.isEmpty {
        guard let parameter = HeaderList.parameter(part), !parameter.value.isEmpty,
          seen.insert(parameter.name).inserted
        else { return Entry(isMalformed: true) }
        switch parameter.name {
        case "for": entry.address = Self.address(parameter.value[...])
        case "proto":
          guard let scheme = Self.scheme(parameter.value[...]) else {
            return Entry(isMalformed: true)
          }
          entry.scheme = scheme
        case "host":
          guard let host = HostAndPort(parsing: parameter.value) else {
            return Entry(isMalformed: true)
          }
          entry.host = host
        default: break
        }
      }
      return entry
    }
  }

  private func commonEntries(_ headers: ForwardedHeaders) -> [Entry] {
    // Empty items stay: a list `1.2.3.4,` was cut or forged, and its end says nothing.
    var entries = headers.forwardedFor.flatMap {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    .map { Entry(address: Self.address(HeaderList.trimmed($0))) }
    // These two have no fixed pairing with the hops. The nearest proxy is the only one known to have written the end
    // of the line, so only that end is believed, for the nearest hop.
    if entries.isEmpty { entries.append(Entry()) }
    let schemes = headers.forwardedProto.flatMap {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    if let last = schemes.last {
      entries[entries.count - 1].scheme = Self.scheme(HeaderList.trimmed(last))
    }
    let hosts = headers.forwardedHost.flatMap {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    if let last = hosts.last {
      entries[entries.count - 1].host = HostAndPort(parsing: String(HeaderList.trimmed(last)))
    }
    return entries
  }

  /// An address with or without a port; `unknown` and obfuscated names are no address.
  private static func address(_ text: Substring) -> IPAddress? {
    if let address = IPAddress(text) { return address }
    guard case .address(let address)? = HostAndPort(parsing: String(text))?.host else { return nil }
    return address
  }

  private static func scheme(_ text: Substring) -> ClientOrigin.Scheme? {
    ClientOrigin.Scheme(rawValue: text.lowercased())
  }
}
