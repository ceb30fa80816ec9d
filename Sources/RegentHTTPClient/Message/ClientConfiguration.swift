public import RegentPlatform

/// The certificate authorities that a client trusts.
public enum CertificateAuthorities: Hashable, Sendable {
  /// The authorities of the machine (`/etc/ssl/certs` or `SSL_CERT_DIR`), and those in the PEM file `SSL_CERT_FILE` if
  /// it is set.
  case system
  /// Only the authorities in one PEM file.
  case file(String)
  /// Only the authorities in one folder, with OpenSSL's hashed file names.
  case folder(String)
}

/// The settings of a client for all its calls.
public struct ClientConfiguration: Sendable {
  public var authorities = CertificateAuthorities.system
  /// The wall clock in epoch milliseconds, with which certificates are checked.
  public var wallClock: @Sendable () -> Int64
  /// The time at which the program was built, in epoch milliseconds.
  ///
  /// If the wall clock shows an earlier time, it is wrong.
  public var buildTime: Int64
  /// A time that is certainly not later than the real time, in epoch milliseconds, for example that of the newest file
  /// of an earlier run.
  ///
  /// It is used if the wall clock is before the build time.
  public var earliestTime: Int64 = 0
  /// The latest server time that earlier runs have seen, in epoch milliseconds.
  public var lastSeenServerTime: Int64
  /// Whether the process with these credentials may listen on the Unix socket at that path.
  public typealias ListenerTrust = @Sendable (UnixCredentials, _ path: String) -> Bool

  /// Checks the listener of a Unix socket before a request is sent; nil trusts every listener.
  public var trustsListener: ListenerTrust?
  /// The thread on which calls run.
  public enum CallThread: Sendable {
    /// Calls run on a thread of the client; any number of them at the same time.
    case own
    /// Calls run on the caller's thread, which waits, one after the other.
    ///
    /// For short commands, for which starting a second thread would take longer than the call.
    case callers
  }

  public var callThread = CallThread.own
  /// Called on the client's thread when an address, a route, the name servers or the clock of this machine changed.
  ///
  /// After such a change, a call that failed before may succeed.
  public var onNetworkChange: (@Sendable () -> Void)?
  /// The time limit of a connection attempt with its TLS handshake.
  ///
  /// The deadline of a call may be shorter.
  public var connectLimit = Duration.seconds(10)
  /// The time limit of the look-up, the connection and the TLS handshake together.
  ///
  /// It leaves the response its own part of a call's deadline.
  public var reachLimit = Duration.seconds(15)
  /// How long an unused connection is kept for further calls.
  public var keepAlive = Duration.seconds(60)
  /// The maximum time since the last response for which a kept connection may carry a request that must not be sent
  /// twice.
  ///
  /// A router may have dropped an older connection, and the client could not send the request again.
  public var freshness = Duration.seconds(2)
  /// The proxy for calls to other machines.
  public var proxy = ProxyChoice.environment
  /// The maximum number of unused connections that are kept.
  public var idleConnections = 8

  /// Makes a configuration.
  ///
  /// Certificates are checked at the latest of the three times, because the wall clock may be years behind.
  ///
  /// - Parameters:
  ///   - wallClock: the wall clock in epoch milliseconds.
  ///   - buildTime: the time at which the program was built, in epoch milliseconds.
  ///   - lastSeenServerTime: the latest server time that earlier runs have seen, in epoch milliseconds.
  public init(
    wallClock: @escaping @Sendable () -> Int64, buildTime: Int64 = 0, lastSeenServerTime: Int64 = 0
  ) {
    self.wallClock = wallClock
    self.buildTime = buildTime
    self.lastSeenServerTime = lastSeenServerTime
  }
}
