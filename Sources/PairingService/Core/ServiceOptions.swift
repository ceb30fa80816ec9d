internal import RegentHTTPCodec
package import PairingStore
package import RegentPairing
internal import RegentPairingWire

/// What an operator decided about the service.
package struct ServiceOptions: Sendable {
  /// The address that phones open, without a slash at its end.
  package var publicURL: String
  package var limits = ServiceLimits()
  /// How long a media token lasts.
  package var mediaTokenLifetime = MediaToken.usualLifetime
  /// How long an access token of a registered client lasts.
  package var accessTokenLifetime: Duration = .seconds(6 * 3600)
  /// How long an access token of a client that speaks OAuth lasts.
  package var oauthTokenLifetime: Duration = .seconds(3600)
  /// How long a new signing key is published before it signs: longer than key sets are cached.
  package var signingKeyLead: Duration = .seconds(600)
  /// How much of the audit log is kept.
  package var auditRetention = AuditRetention()
  /// The port that it listens on; none when that is a Unix socket.
  package var port: UInt16?
  /// What this node is called among those that share its store.
  package var node: NodeID?
  /// What the service calls itself.
  package var version = ""

  /// Options with the usual values.
  package init(publicURL: String) {
    self.publicURL = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
  }

  /// The path of the public address, without a slash at its end: nothing when the service has a host of its own.
  package var basePath: String {
    var path = (try? AbsoluteURL(parsing: publicURL))?.path ?? ""
    while path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// Where errors are explained.
  package var helpURL: String { publicURL + Paths.openAPI }

  /// Whether the public address is without TLS.
  package var isPlainHTTP: Bool { publicURL.utf8.starts(with: "http://".utf8) }

  /// Whether pages and passwords travel over a network in clear: said so on the pages.
  package var isReadableOnTheWay: Bool { isPlainHTTP && !publicURL.isLoopbackURL }
}

extension String {
  /// Whether a URL leads to this machine itself.
  var isLoopbackURL: Bool {
    (try? AbsoluteURL(parsing: self))?.host.isLoopback == true
  }
}
