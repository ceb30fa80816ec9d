/// The headers that every answer on the public address carries, errors and redirects included.
package struct SecurityHeaders: Sendable {
  /// Names and values, in the order they are sent.
  package let list: [(name: String, value: String)]

  /// Scripts and styles come from files of ours only; nothing else may be loaded, framed or submitted elsewhere.
  package static let contentPolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    + "connect-src 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'"

  /// - Parameter https: whether `--public-url` says so. Over plain HTTP no browser obeys HSTS, and a box that is later
  ///   reached by its address would be locked out if one did.
  package init(https: Bool) {
    var list = [
      ("Content-Security-Policy", SecurityHeaders.contentPolicy),
      ("X-Content-Type-Options", "nosniff"),
      ("X-Frame-Options", "DENY"),
      // Not no-referrer: that makes browsers send "Origin: null" with forms, which the check of Origin refuses.
      ("Referrer-Policy", "same-origin"),
      ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
      (
        "Permissions-Policy",
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"
      ),
    ]
    if https { list.append(("Strict-Transport-Security", "max-age=31536000")) }
    self.list = list
  }

  /// For pages, redirects and errors, which no cache may keep.
  package static let neverStored = (name: "Cache-Control", value: "no-store")

  package static let pageType = (name: "Content-Type", value: "text/html; charset=utf-8")
}
