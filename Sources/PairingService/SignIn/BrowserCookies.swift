internal import RegentHTTPCodec
internal import RegentPairing

/// The cookies of the phone's pages.
///
/// Over https each is named `__Host-…`: no other host, and nobody on the way, can plant one. Browsers do not keep such
/// a cookie over plain http, so on a home network the names say what they are.
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

  /// - Parameter isPlainHTTP: whether the public address says `http`.
  init(isPlainHTTP: Bool) { isSecure = !isPlainHTTP }

  /// The name as it is sent.
  func name(_ kind: Kind) -> String {
    isSecure ? "__Host-regent-\(kind.rawValue)" : "regent-plain-http-\(kind.rawValue)"
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
