public import RegentHTTPCodec

/// An address on which a server listens.
public enum ListenAddress: Sendable, Hashable {
  /// A TCP address and port. For port 0 the kernel chooses a free port.
  case network(IPAddress, port: UInt16)
  /// The path of a Unix socket, with the mode of its file and, unless nil, the file's group.
  case local(path: String, mode: UInt32, group: UInt32?)
  /// A socket that already listens; the service manager opened it and passed its descriptor.
  case inherited(descriptor: Int32)

  /// Parses `127.0.0.1:8787`, `[::1]:8787`, `localhost:8787`, `*:8787` (all IPv4 and IPv6 addresses) or `unix:/path`;
  /// nil for other texts.
  public init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard path.hasPrefix("/") else { return nil }
      self = .local(path: path, mode: 0o660, group: nil)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    // The digits of the port are checked separately, because `UInt16` also accepts "+80".
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
  /// The address as text that ``init(_:)`` parses.
  public var description: String {
    switch self {
    case .network(let address, let port): "\(Peer.network(address, port: port))"
    case .local(let path, _, _): "unix:\(path)"
    case .inherited(let descriptor): "descriptor \(descriptor)"
    }
  }
}

/// An address to listen on and its handler.
public struct Listener: Sendable {
  public let address: ListenAddress
  /// The certificate and key for TLS; nil for unencrypted connections.
  public let tls: TLSFiles?
  public let handler: any Handler

  public init(_ address: ListenAddress, tls: TLSFiles? = nil, handler: any Handler) {
    self.address = address
    self.tls = tls
    self.handler = handler
  }
}

public struct TLSFiles: Sendable, Hashable {
  /// The path of a PEM file with the certificate, followed by the intermediate certificates.
  public let certificate: String
  /// The path of the PEM file with the private key.
  public let key: String

  public init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}
