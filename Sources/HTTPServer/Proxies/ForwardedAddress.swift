public import RegentHTTPCodec

/// What is known about the origin of a request: the client's address, the scheme and the host.
public struct ClientOrigin: Sendable, Equatable {
  /// The scheme of the client's own connection.
  public enum Scheme: String, Sendable {
    case http
    case https
  }

  /// The client's address, from the socket or from trusted proxies; nil for a Unix socket.
  public var address: IPAddress?
  /// The scheme of the client's connection, from the listener or from trusted proxies.
  public var scheme: Scheme
  /// The host that the client requested, as a trusted proxy reported it; if nil, use the `Host` header.
  public var forwardedHost: HostAndPort?
  /// The number of proxies whose entry in the headers was used.
  public var hops = 0

  /// Makes an origin from the facts of the socket only.
  public init(address: IPAddress?, scheme: Scheme) {
    self.address = address
    self.scheme = scheme
  }
}

/// A host with a port, as a proxy reports it.
public struct HostAndPort: Sendable, Hashable {
  public let host: HostName
  /// The port that the proxy reports; nil if it reports none.
  public let port: Int?

  /// Parses the text `host` or `host:port`.
  public init?(parsing text: String) {
    guard let url = try? AbsoluteURL(parsing: "http://\(text)"), url.path.isEmpty,
      url.query == nil, url.fragment == nil
    else { return nil }
    host = url.host
    port = url.port
  }
}

/// The headers in which proxies report the client's address, scheme and host.
public struct ForwardedHeaders: Sendable, Equatable {
  /// The values of all `Forwarded` headers (RFC 7239), in order.
  public var forwarded: [String]
  /// The values of all `X-Forwarded-For` headers, in order.
  public var forwardedFor: [String]
  /// The values of all `X-Forwarded-Proto` headers, in order.
  public var forwardedProto: [String]
  /// The values of all `X-Forwarded-Host` headers, in order.
  public var forwardedHost: [String]

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

/// The proxies whose headers the server trusts (`--trust-proxy`).
///
/// Any client can send these headers. Therefore the entries are read from the right, where the nearest proxy wrote, and
/// only as long as the hop that wrote an entry is trusted. Reading stops at an entry that is not an address.
///
/// If `Forwarded` and `X-Forwarded-For` disagree, the client sent one of them through a proxy that only knows the
/// other. Nearly every proxy, including those in our examples, uses `X-Forwarded-For`, so that header takes precedence.
/// If the server trusted neither header, the proxy's address would count as the client's. An attacker who adds a
/// `Forwarded` line would then escape the limit for the attacker's address. A proxy that writes `Forwarded` must remove
/// the other header.
public struct TrustedProxies: Sendable, Equatable {
  /// The maximum number of entries that are read.
  ///
  /// No real set-up has more proxies in a row.
  static let maximumHops = 16

  private let networks: [IPNetwork]
  private let trustsLocalSocket: Bool

  /// Makes the list of trusted proxies.
  ///
  /// No network is trusted, and no peer on a Unix socket, unless it is given.
  public init(_ networks: [IPNetwork] = [], trustsLocalSocket: Bool = false) {
    self.networks = networks
    self.trustsLocalSocket = trustsLocalSocket
  }

  /// Whether no proxy is trusted, so that the headers need not be read.
  public var isEmpty: Bool { networks.isEmpty && !trustsLocalSocket }

  /// Whether the peer is a trusted proxy; nil stands for a peer on a Unix socket.
  public func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return trustsLocalSocket }
    return networks.contains { $0.contains(peer) }
  }

  /// The origin of a request, from the facts of the socket and the proxy headers.
  public func origin(of socket: ClientOrigin, claimed headers: ForwardedHeaders) -> ClientOrigin {
    guard trusts(socket.address) else { return socket }
    let standard = headers.forwarded.isEmpty ? nil : walk(socket, standardEntries(headers))
    let common = headers.forwardedFor.isEmpty ? nil : walk(socket, commonEntries(headers))
    switch (standard, common) {
    case (nil, nil): return walk(socket, commonEntries(headers))
    case (let only?, nil), (nil, let only?): return only
    case (let standard?, let common?):
      guard standard.address == common.address else { return common }
      // Both headers name the same client. A proxy that knows only X-Forwarded-* passes a client's `Forwarded` on
      // unchanged, with the client's own address and a scheme and host that the client chose. The headers that the
      // proxy wrote take precedence.
      var agreed = standard
      if !headers.forwardedProto.isEmpty { agreed.scheme = common.scheme }
      if !headers.forwardedHost.isEmpty { agreed.forwardedHost = common.forwardedHost }
      return agreed
    }
  }

  /// The entry of one hop in the headers.
  ///
  /// Reading stops at an entry without an address.
  private struct Entry {
    var address: IPAddress?
    var scheme: ClientOrigin.Scheme?
    var host: HostAndPort?
    var isMalformed = false
  }

  /// Reads `entries`, which are in header order, from the last one on, which the nearest proxy wrote.
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
    // Empty items count as entries without an address, because a list such as `1.2.3.4,` was cut or forged.
    var entries = headers.forwardedFor.flatMap {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    .map { Entry(address: Self.address(HeaderList.trimmed($0))) }
    // `X-Forwarded-Proto` and `X-Forwarded-Host` have no entry for each hop. Only the end of the line is certainly from
    // the nearest proxy, so only that end is used, for the nearest hop.
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

  /// Parses an address with or without a port; nil for `unknown` and for obfuscated names.
  private static func address(_ text: Substring) -> IPAddress? {
    if let address = IPAddress(text) { return address }
    guard case .address(let address)? = HostAndPort(parsing: String(text))?.host else { return nil }
    return address
  }

  private static func scheme(_ text: Substring) -> ClientOrigin.Scheme? {
    ClientOrigin.Scheme(rawValue: text.lowercased())
  }
}
