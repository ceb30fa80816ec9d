internal import RegentHTTPCodec
internal import HTTPServer

/// Checks by the headers that browsers send whether a form comes from a page of this service.
///
/// This is a second defence besides the form token. Programs that send none of these headers are accepted here: another
/// site's page cannot make them send a form, and they still need the token.
struct FormOrigin: Sendable {
  private static let fetchSite = HeaderName(literal: "Sec-Fetch-Site")
  private let ours: String?

  init(publicURL: String) { ours = (try? AbsoluteURL(parsing: publicURL))?.origin }

  /// Whether the form may come from a page of this service: false if a header of the request names another site as its
  /// origin.
  func accepts(_ request: Request) -> Bool {
    let sites = request.headers(Self.fetchSite)
    guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return false }
    let origins = request.headers(.origin)
    guard origins.isEmpty else { return origins.allSatisfy { isOurs($0, request) } }
    return request.headers(.referer).allSatisfy { isOurs($0, request) }
  }

  /// Whether this is the public address, or the address to which the request was sent.
  ///
  /// A service in a home network has several addresses.
  private func isOurs(_ address: String, _ request: Request) -> Bool {
    guard let origin = (try? AbsoluteURL(parsing: address))?.origin else { return false }
    if origin == ours { return true }
    let forwarded = request.forwardedHost.map { place in
      place.port.map { "\(place.host):\($0)" } ?? "\(place.host)"
    }
    guard let authority = forwarded ?? request.authority else { return false }
    let scheme = request.isSecure ? "https" : "http"
    guard let place = try? AbsoluteURL(parsing: "\(scheme)://\(authority)"), place.origin == origin
    else { return false }
    // The address to which the request was sent is accepted only over TLS, or if no outsider can own it. Without TLS an
    // attacker can use DNS rebinding: the attacker's host name resolves to this service, and the browser then
    // truthfully names the attacker's page as the origin of this host.
    return request.isSecure || place.host.isOfOneHome
  }
}

extension HostName {
  /// Whether no outsider can own this host name.
  ///
  /// That holds for an IP address, a name without a dot, and a name in a domain reserved for local networks. A name of
  /// the public DNS is accepted only as the configured public address.
  var isOfOneHome: Bool {
    guard case .name(let name) = self else { return true }
    let ends = [".local", ".localhost", ".home.arpa", ".internal", ".lan", ".home"]
    return !name.contains(".") || ends.contains(where: name.hasSuffix)
  }
}
