internal import RegentHTTPCodec
internal import RegentPairing

/// The cookies of the phone's pages.
///
/// Over HTTPS each name begins with `__Host-`, so that neither another host nor an attacker on the network can set
/// one. Browsers refuse such cookies over plain HTTP, so on a home network the names have another prefix.
///
/// Browsers do not separate cookies by port, and `__Host-` cookies not by path, so two services on one host would
/// overwrite each other's cookies. Therefore the port and the path of the public address are part of the name, unless
/// the service uses the default port and no path. A service on another port of the same host still receives the
/// cookies; no name can prevent that.
struct BrowserCookies: Sendable {
  enum Kind: String, CaseIterable {
    /// The cookie with the secret of the signed-in session.
    case session
    /// The cookie with the browser's random id.
    ///
    /// Form tokens are bound to it before and after the sign-in.
    case browserID = "visit"
    /// The cookie with the codes that this browser has opened.
    case codes
    /// The cookie with the address of the application's page that sent the browser here, to return to after the
    /// decision.
    case back
    /// The cookie with the language that the viewer selected.
    case language
  }

  private let isSecure: Bool
  /// The part of the cookie names with port and path: `8443-tv-` for `https://host:8443/tv`.
  private let place: String

  init(publicURL: String) {
    let url = try? AbsoluteURL(parsing: publicURL)
    isSecure = url?.scheme != "http"
    let usual = isSecure ? 443 : 80
    let port = url?.effectivePort.flatMap { $0 == usual ? nil : String($0) }
    // The steps of the path are joined without slashes, because a cookie name may contain all characters of plain paths
    // except the slash (RFC 6265: token).
    let path = url?.path.split(separator: "/").map(String.init) ?? []
    place = ([port].compactMap(\.self) + path).map { "\($0)-" }.joined()
  }

  func name(_ kind: Kind) -> String {
    (isSecure ? "__Host-regent-" : "regent-plain-http-") + place + kind.rawValue
  }

  /// The value of a cookie that the browser sent; nil when it sent two cookies of this name.
  func value(_ kind: Kind, in cookies: Cookies) -> String? {
    cookies.value(of: name(kind)).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Makes a cookie for the browser to keep.
  ///
  /// Without a span it lasts until the browser closes.
  func keep(_ kind: Kind, _ value: String, for span: Duration? = nil) -> SetCookie? {
    try? SetCookie(
      name(kind), value, maximumAge: span.map { Int($0.wholeMilliseconds / 1000) },
      isSecure: isSecure)
  }

  func forget(_ kind: Kind) -> SetCookie? { try? keep(kind, "")?.removal() }
}
