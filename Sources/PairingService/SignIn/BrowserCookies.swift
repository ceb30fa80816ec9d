internal import RegentHTTPCodec
internal import RegentPairing

/// The cookies of the phone's pages.
///
/// Over https each is named `__Host-…`: no other host, and nobody on the way, can plant one. Browsers do not keep such
/// a cookie over plain http, so on a home network the names say what they are.
///
/// Cookies know no ports, and `__Host-` no paths: two services on one host would overwrite each other's. So the
/// port and the path of the public address are in the name, unless the service has its host's usual port to itself.
/// A service on another port of the host still receives the cookies: no name can prevent that.
struct BrowserCookies: Sendable {
  /// What is kept in the browser.
  enum Kind: String, CaseIterable {
    /// Who is signed in.
    case session
    /// Which browser it is: what forms are bound to before and after the sign-in.
    case browserID = "visit"
    /// The codes that this browser has opened.
    case codes
    /// Where to go when a code is approved.
    case back
    /// The language that was chosen by hand.
    case language
  }

  private let isSecure: Bool
  /// `8443-tv-` for `https://host:8443/tv`.
  private let place: String

  /// - Parameter publicURL: the address that phones open.
  init(publicURL: String) {
    let url = try? AbsoluteURL(parsing: publicURL)
    isSecure = url?.scheme != "http"
    let usual = isSecure ? 443 : 80
    let port = url?.effectivePort.flatMap { $0 == usual ? nil : String($0) }
    // Letters of plain paths are letters of cookies' names (RFC 6265: token), but for the slash.
    let path = url?.path.split(separator: "/").map(String.init) ?? []
    place = ([port].compactMap(\.self) + path).map { "\($0)-" }.joined()
  }

  /// The name as it is sent.
  func name(_ kind: Kind) -> String {
    (isSecure ? "__Host-regent-" : "regent-plain-http-") + place + kind.rawValue
  }

  /// What the browser sent; nothing when it sent two of a name.
  func value(_ kind: Kind, in cookies: Cookies) -> String? {
    cookies.value(of: name(kind)).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A cookie to keep; without a span until the browser closes.
  func keep(_ kind: Kind, _ value: String, for span: Duration? = nil) -> SetCookie? {
    try? SetCookie(
      name(kind), value, maximumAge: span.map { Int($0.wholeMilliseconds / 1000) },
      isSecure: isSecure)
  }

  /// A cookie to forget.
  func forget(_ kind: Kind) -> SetCookie? { try? keep(kind, "")?.removal() }
}
