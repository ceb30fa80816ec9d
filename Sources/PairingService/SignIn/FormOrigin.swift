internal import RegentHTTPCodec
internal import HTTPServer

/// Whether a form comes from a page of ours, as far as the browser says.
///
/// The second line behind the form's token. Programs that say nothing about where they come from are no browsers that a
/// stranger's page could use, and have the token to show.
struct FormOrigin: Sendable {
  private static let fetchSite = HeaderName(literal: "Sec-Fetch-Site")
  private let ours: String?

  /// - Parameter publicURL: the address that phones open.
  init(publicURL: String) { ours = (try? AbsoluteURL(parsing: publicURL))?.origin }

  /// Whether nothing the browser says speaks against it.
  func accepts(_ request: Request) -> Bool {
    let sites = request.headers(Self.fetchSite)
    guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return false }
    let origins = request.headers(.origin)
    guard origins.isEmpty else { return origins.allSatisfy { isOurs($0, request) } }
    return request.headers(.referer).allSatisfy { isOurs($0, request) }
  }

  /// The public address, or the one this very request was sent to: at home the service has several.
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
    // Without TLS anybody's page can be served by us: its name is made to mean our address (DNS rebinding), and what
    // the browser then says of its origin is true.
    return request.isSecure || place.host.isOfOneHome
  }
}

extension HostName {
  /// Whether nobody outside can own this host.
  ///
  /// An address, a name of one word, or one of a domain that is every home's own. A name of the
  /// public DNS is believed in the public address only.
  var isOfOneHome: Bool {
    guard case .name(let name) = self else { return true }
    let ends = [".local", ".localhost", ".home.arpa", ".internal", ".lan", ".home"]
    return !name.contains(".") || ends.contains(where: name.hasSuffix)
  }
}
