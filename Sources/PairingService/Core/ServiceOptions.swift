internal import RegentHTTPCodec
package import PairingStore
package import RegentPairing
internal import RegentPairingWire

/// The settings of the service that operators can change.
package struct ServiceOptions: Sendable {
  /// The address that phones open, without a slash at its end.
  package var publicURL: String
  package var limits = ServiceLimits()
  /// The time for which a media token is valid.
  package var mediaTokenLifetime = MediaToken.usualLifetime
  /// The lifetime of a registered client's access token.
  package var accessTokenLifetime: Duration = .seconds(6 * 3600)
  /// The lifetime of an OAuth client's access token.
  package var oauthTokenLifetime: Duration = .seconds(3600)
  /// How long a new signing key is published before it signs.
  ///
  /// The time is longer than clients cache key sets, so that every verifier knows the key by then.
  package var signingKeyLead: Duration = .seconds(600)
  /// How long lines of the audit log are kept, and how many.
  package var auditRetention = AuditRetention()
  /// The TCP port that the service listens on; nil when it listens on a Unix socket.
  package var port: UInt16?
  /// The name of this node among those that share its store.
  package var node: NodeID?
  package var version = ""

  package init(publicURL: String) {
    self.publicURL = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
  }

  /// The path of the public address, without a slash at its end; empty when the address has no path.
  package var basePath: String {
    var path = (try? AbsoluteURL(parsing: publicURL))?.path ?? ""
    while path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// The URL that error documents link to: the description of the interface.
  package var helpURL: String { publicURL + Paths.openAPI }

  /// Whether the public address begins with `http:`, so that it has no TLS.
  package var isPlainHTTP: Bool { publicURL.utf8.starts(with: "http://".utf8) }

  /// Whether pages and passwords travel over a network unencrypted.
  ///
  /// The pages warn viewers if they do.
  package var isReadableOnTheWay: Bool { isPlainHTTP && !publicURL.isLoopbackURL }
}

extension String {
  /// Whether the URL leads to this machine itself.
  var isLoopbackURL: Bool {
    (try? AbsoluteURL(parsing: self))?.host.isLoopback == true
  }
}
