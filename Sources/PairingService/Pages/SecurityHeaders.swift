/// The headers of every response on the public address, errors and redirects included.
package struct SecurityHeaders: Sendable {
  package let list: [(name: String, value: String)]

  /// Allows scripts, styles and images of this service only; forbids framing, and forms that post to other hosts.
  package static let contentPolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    + "connect-src 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'"

  /// Makes the headers.
  ///
  /// - Parameter https: whether `--public-url` is https. Only then HSTS is sent: browsers ignore it over plain HTTP,
  ///   and otherwise it would lock out a service that is later reached by its IP address.
  package init(https: Bool) {
    var list = [
      ("Content-Security-Policy", SecurityHeaders.contentPolicy),
      ("X-Content-Type-Options", "nosniff"),
      ("X-Frame-Options", "DENY"),
      // With the value no-referrer, browsers would send "Origin: null" with forms, which FormOrigin refuses.
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

  /// The header of pages, redirects and errors, which must not be cached.
  package static let neverStored = (name: "Cache-Control", value: "no-store")

  package static let pageType = (name: "Content-Type", value: "text/html; charset=utf-8")
}
