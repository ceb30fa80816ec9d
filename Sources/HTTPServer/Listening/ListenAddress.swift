public import RegentHTTPCodec

/// Where a server listens.
public enum ListenAddress: Sendable, Hashable {
  /// TCP; port 0 picks a free one.
  case network(IPAddress, port: UInt16)
  /// A Unix socket at a path, with the file's mode and (when not nil) group.
  case local(path: String, mode: UInt32, group: UInt32?)
  /// A socket that listens already: the service manager opened it and handed its descriptor over.
  case inherited(descriptor: Int32)

  /// `127.0.0.1:8787`, `[::1]:8787`, `localhost:8787`, `*:8787` (all IPv4 and IPv6) or `unix:/path`; nil for anything
  /// else.
  public init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard path.hasPrefix("/") else { return nil }
      self = .local(path: path, mode: 0o660, group: nil)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    // `UInt16` would take "+80" as well.
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
      return nil
    }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    switch host {
    case "localhost": self = .network(.loopback, port: port)
    case "*": self = .network(IPAddress(high: 0, low: 0), port: port)
    default:
      guard let address = IPAddress(host) else { return nil }
      self = .network(address, port: port)
    }
  }
}

extension ListenAddress: CustomStringConvertible {
  /// The text that makes the same address.
  public var description: String {
    switch self {
    case .network(let address, let port): "\(Peer.network(address, port: port))"
    case .local(let path, _, _): "unix:\(path)"
    case .inherited(let descriptor): "descriptor \(descriptor)"
    }
  }
}

/// One place to listen and what answers there.
public struct Listener: Sendable {
  /// Where.
  public let address: ListenAddress
  /// The certificate, when connections are encrypted.
  public let tls: TLSFiles?
  /// What answers.
  public let handler: any Handler

  public init(_ address: ListenAddress, tls: TLSFiles? = nil, handler: any Handler) {
    self.address = address
    self.tls = tls
    self.handler = handler
  }
}

/// The PEM files of a certificate chain and its private key.
public struct TLSFiles: Sendable, Hashable {
  /// The certificate, followed by the intermediate ones.
  public let certificate: String
  /// The private key.
  public let key: String

  /// Files from their paths.
  public init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}
