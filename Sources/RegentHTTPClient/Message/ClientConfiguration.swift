public import RegentPlatform

/// Which certificate authorities are trusted.
public enum CertificateAuthorities: Hashable, Sendable {
  /// Those of the machine (`/etc/ssl/certs`, or `SSL_CERT_DIR`), and those in the PEM file `SSL_CERT_FILE` when set.
  case system
  /// Those in one PEM file and no others.
  case file(String)
  /// Those in one folder with OpenSSL's hashed names and no others.
  case folder(String)
}

/// How a client behaves for all its calls.
public struct ClientConfiguration: Sendable {
  /// Which certificate authorities are trusted.
  public var authorities = CertificateAuthorities.system
  /// The wall clock in epoch milliseconds, for certificates.
  public var wallClock: @Sendable () -> Int64
  /// When the program was built, in epoch milliseconds: no clock that is right says less.
  public var buildTime: Int64
  /// A time that is not later than the real one, in epoch milliseconds, for a wall clock before the build time; the
  /// age of the newest file of an earlier run is one.
  public var earliestTime: Int64 = 0
  /// The latest server time that earlier runs have seen, in epoch milliseconds.
  public var lastSeenServerTime: Int64
  /// Whether somebody may listen on the Unix socket at that path.
  public typealias ListenerTrust = @Sendable (UnixCredentials, _ path: String) -> Bool

  /// Who may listen on Unix sockets that are called; anybody when there is nothing here.
  public var trustsListener: ListenerTrust?
  /// Where calls are made.
  public enum CallThread: Sendable {
    /// On a thread of the client's, for any number of calls at the same time.
    case own
    /// On that of whoever calls, which waits there, one call after the other: for short commands, whose time goes into
    /// making a second thread and waking each other.
    case callers
  }

  /// Where calls are made.
  public var callThread = CallThread.own
  /// Called on the client's thread when an address, a route, the name servers or the clock of this machine changed:
  /// a call that failed may succeed now.
  public var onNetworkChange: (@Sendable () -> Void)?
  /// How long a server may take to be connected to, the TLS handshake included; a call may have less in all.
  public var connectLimit = Duration.seconds(10)
  /// How long an unused connection is kept for the next call.
  public var keepAlive = Duration.seconds(60)
  /// How soon after its last answer a kept connection takes a call that may not be made twice.
  ///
  /// A router may have forgotten an older one, and such a call cannot be tried again when no answer comes.
  public var freshness = Duration.seconds(2)
  /// How many unused connections are kept.
  public var idleConnections = 8

  /// A configuration.
  ///
  /// - Parameters:
  ///   - wallClock: the wall clock in epoch milliseconds, for certificates.
  ///   - buildTime: when the program was built, in epoch milliseconds.
  ///   - lastSeenServerTime: the latest server time that earlier runs have seen, in epoch milliseconds.
  public init(
    wallClock: @escaping @Sendable () -> Int64, buildTime: Int64 = 0, lastSeenServerTime: Int64 = 0
  ) {
    self.wallClock = wallClock
    self.buildTime = buildTime
    self.lastSeenServerTime = lastSeenServerTime
  }
}
