/// How to reach a database, and how the connection is protected.
public struct ConnectionSettings: Hashable, Sendable {
  /// A server that may have the database.
  public struct Host: Hashable, Sendable {
    /// A host name, an address, or the directory of a Unix socket (which begins with "/").
    public let name: String
    public let port: UInt16

    public init(name: String, port: UInt16 = 5432) {
      self.name = name
      self.port = port
    }

    public var isSocket: Bool { name.hasPrefix("/") }
    /// Whether the connection to this host stays on this machine.
    public var isThisMachine: Bool {
      isSocket || name == "localhost" || name.hasSuffix(".localhost") || isLoopback(name)
    }
  }

  /// How TLS is used and what of the server is verified.
  ///
  /// The raw values are libpq's.
  public enum TLS: String, Hashable, Sendable {
    /// The certificate must come from a known authority and match the host name.
    ///
    /// This is the default for a server on another machine.
    case verifyFull = "verify-full"
    /// The certificate must come from a known authority, whatever its name. For a private authority.
    case verifyAuthority = "verify-ca"
    /// The connection is encrypted, but the server is not verified: an attacker on the network path can read and change
    /// everything.
    case require
    /// The connection is not encrypted.
    case disable
  }

  /// The servers, in the order in which they are tried.
  ///
  /// The first writable one is used.
  public var hosts: [Host]
  public var database: String
  /// The database role; nil means the name of this process's user.
  public var user: String?
  /// The TLS mode from the URL.
  ///
  /// Nil means `verifyFull` for another machine.
  public var tls: TLS?
  /// A file with certificate authorities in PEM.
  ///
  /// The default is the system's.
  public var authorities = "/etc/ssl/certs/ca-certificates.crt"
  public var password = PasswordSource.none
  /// The name under which the connection appears in `pg_stat_activity`.
  public var applicationName = "regent"
  /// How long connecting to each server may take before the next one is tried.
  public var hostPatience = Duration.seconds(3)
  /// Session settings (`SET name = value`) that are made right after connecting.
  public var session: [String: String] = [:]

  public init(hosts: [Host], database: String) {
    self.hosts = hosts
    self.database = database
  }

  /// The value of libpq's `sslmode` for a host.
  func tlsMode(for host: Host) -> String {
    if host.isSocket { return TLS.disable.rawValue }
    if let tls { return tls.rawValue }
    // On the same machine, no attacker is on the network path. So TLS is used only if the server offers it.
    return host.isThisMachine ? "prefer" : TLS.verifyFull.rawValue
  }
}
