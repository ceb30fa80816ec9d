import RegentHTTPCodec

/// The address of a forward proxy.
public struct ProxyAddress: Hashable, Sendable, CustomStringConvertible {
  /// The host; if it is an IPv6 address, without brackets.
  let host: String
  let port: UInt16

  /// Parses `http://HOST:PORT` or `HOST:PORT`; the port is 80 if it is missing.
  ///
  /// Returns nil for proxies of another kind (`https://`, `socks5://`) and for addresses with a user name, which the
  /// client does not support.
  public init?(parsing text: String) {
    let whole = text.contains("://") ? text : "http://\(text)"
    guard let url = try? AbsoluteURL(parsing: whole), url.scheme == "http", url.path == "" || url.path == "/",
      url.query == nil, url.fragment == nil, let port = url.effectivePort
    else { return nil }
    let host = url.host.description
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = UInt16(port)
  }

  public var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
  }
}

/// How a client chooses the proxy for a call.
///
/// Loopback addresses, Unix sockets and the hosts in `no_proxy` are always called without a proxy.
public enum ProxyChoice: Hashable, Sendable {
  /// As the environment variables `http_proxy`, `https_proxy` and `no_proxy` say.
  case environment
  /// Calls to http and https addresses go through this proxy.
  case address(ProxyAddress)
  /// No proxy, whatever the environment says.
  case none
}

/// The proxy settings of a client, with the environment variables that it read.
public struct ProxyRules: Sendable {
  /// What a call uses.
  public enum Route: Hashable, Sendable {
    /// No proxy is set.
    case direct
    /// A proxy is set, but this entry of `no_proxy`, or a loopback address, excepts the host.
    case excepted(String)
    /// The calls go through this proxy. `variable` is the environment variable that set it; nil if a setting of the
    /// program did.
    case proxy(ProxyAddress, variable: String?)
    /// No call can be made, because this environment variable has a value that is not the address of an http proxy.
    case unusable(variable: String)
  }

  private let choice: ProxyChoice
  private let variables: [String: String]
  private let exceptions: [ProxyException]

  /// Reads the variables.
  ///
  /// Like curl, it does not read `HTTP_PROXY`: in a CGI program a client can set that variable with a header.
  public init(_ choice: ProxyChoice, variable: (String) -> String?) {
    self.choice = choice
    var variables: [String: String] = [:]
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY"] where choice == .environment {
      if let text = variable(name), !text.isEmpty { variables[name] = text }
    }
    self.variables = variables
    let list = choice == .none ? nil : variable("no_proxy") ?? variable("NO_PROXY")
    exceptions = (list ?? "").split { $0 == "," || $0 == " " }.map { ProxyException(String($0)) }
  }

  /// The route to a server.
  public func route(to origin: Origin) -> Route {
    let variable: String?
    let address: ProxyAddress?
    switch (choice, origin.scheme) {
    case (.none, _), (_, .unix): return .direct
    case (.address(let given), _): (variable, address) = (nil, given)
    case (.environment, .http): (variable, address) = found(["http_proxy"])
    case (.environment, .https): (variable, address) = found(["https_proxy", "HTTPS_PROXY"])
    }
    guard variable != nil || address != nil else { return .direct }
    let host = origin.hostName
    if host?.isLoopback == true { return .excepted(origin.host) }
    if let exception = exceptions.first(where: { $0.matches(host, origin.port) }) { return .excepted(exception.text) }
    guard let address else { return .unusable(variable: variable ?? "") }
    return .proxy(address, variable: variable)
  }

  private func found(_ names: [String]) -> (String?, ProxyAddress?) {
    for name in names {
      if let text = variables[name] { return (name, ProxyAddress(parsing: text)) }
    }
    return (nil, nil)
  }
}

/// One entry of `no_proxy`.
private struct ProxyException: Sendable {
  private enum Kind {
    case all
    /// A domain with its subdomains.
    case domain(String)
    case network(IPNetwork)
    case nothing
  }

  let text: String
  private let kind: Kind
  private let port: UInt16?

  init(_ text: String) {
    self.text = text
    guard text != "*" else {
      (kind, port) = (.all, nil)
      return
    }
    let (host, port) = Self.split(text)
    self.port = port
    if let network = Self.network(host) {
      kind = .network(network)
    } else {
      let name = host.hasPrefix("*.") ? host.dropFirst(2) : host.hasPrefix(".") ? host.dropFirst() : host[...]
      if case .name(let domain)? = HostName(parsing: name) { kind = .domain(domain) } else { kind = .nothing }
    }
  }

  func matches(_ host: HostName?, _ port: UInt16) -> Bool {
    guard self.port == nil || self.port == port else { return false }
    return switch (kind, host) {
    case (.all, _): true
    case (.domain(let domain), let host?): host.isWithin(domain: domain)
    case (.network(let network), .address(let address)?): network.contains(address)
    default: false
    }
  }

  /// The network, also of an address that is not its first one: `10.1.2.3/8` means 10.0.0.0/8.
  private static func network(_ text: String) -> IPNetwork? {
    do throws(IPNetworkError) {
      return try IPNetwork(parsing: text)
    } catch {
      guard case .hostBitsSet(_, let network) = error else { return nil }
      return try? IPNetwork(parsing: network)
    }
  }

  /// Splits off a port; an IPv6 address has one only after brackets.
  private static func split(_ text: String) -> (host: String, port: UInt16?) {
    let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
    if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
      let host = String(text[text.index(after: text.startIndex)..<end])
      return (host, UInt16(text[text.index(after: end)...].dropFirst()))
    }
    guard colons == 1, let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      return (text, nil)
    }
    return (String(text[..<colon]), port)
  }
}

extension Origin {
  /// The host as a name or an address; nil for a Unix socket.
  fileprivate var hostName: HostName? {
    scheme == .unix ? nil : HostName(parsing: host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host)
  }
}
