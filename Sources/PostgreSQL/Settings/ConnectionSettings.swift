/// Where a database is, and how the way to it is protected.
public struct ConnectionSettings: Hashable, Sendable {
  /// One server that may have the database.
  public struct Host: Hashable, Sendable {
    /// A name, an address, or the folder of a Unix socket (it begins with "/").
    public let name: String
    public let port: UInt16

    /// A server of that name and port.
    public init(name: String, port: UInt16 = 5432) {
      self.name = name
      self.port = port
    }

    /// Whether it is a Unix socket.
    public var isSocket: Bool { name.hasPrefix("/") }
    /// Whether nothing leaves this machine on the way.
    public var isThisMachine: Bool {
      isSocket || name == "localhost" || name.hasSuffix(".localhost") || isLoopback(name)
    }
  }

  /// How much of TLS is asked for.
  public enum TLS: String, Hashable, Sendable {
    /// The certificate must be of a known authority and for this host. What is not said for another machine.
    case verifyFull = "verify-full"
    /// The certificate must be of a known authority: for a private authority that names no hosts.
    case verifyAuthority = "verify-ca"
    /// Encrypted, with anybody: whoever stands in between can read and change everything.
    case require
    /// In clear text.
    case disable
  }

  /// The servers, in the order in which they are tried; the first one that takes changes is used.
  public var hosts: [Host]
  public var database: String
  /// The role; the name of this process's user when it is not said.
  public var user: String?
  /// What the URL says; where it says nothing another machine must prove itself in full.
  public var tls: TLS?
  /// A file of authorities in PEM: the ones of this machine unless another is given.
  public var authorities = "/etc/ssl/certs/ca-certificates.crt"
  public var password = PasswordSource.none
  /// What `pg_stat_activity` shows.
  public var applicationName = "regent"
  /// How long each server may take to let us in, before the next one is tried.
  public var hostPatience = Duration.seconds(3)
  /// Settings of the session (`SET name = value`), made right after the connection is.
  public var session: [String: String] = [:]

  /// Settings for servers and a database on them.
  public init(hosts: [Host], database: String) {
    self.hosts = hosts
    self.database = database
  }

  /// libpq's word for the protection of the way to a host.
  func tlsMode(for host: Host) -> String {
    if host.isSocket { return TLS.disable.rawValue }
    if let tls { return tls.rawValue }
    // On this machine nobody stands in between; a server that wants TLS gets it.
    return host.isThisMachine ? "prefer" : TLS.verifyFull.rawValue
  }
}
