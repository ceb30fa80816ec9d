public import RegentPairing

/// The addresses that a box shows: where to type the code, and where a scanned code leads.
public struct VerificationLink: Hashable, Sendable {
  /// Where to type the code: the public address of the service itself, which is short.
  public let url: String
  /// Where a scanned code leads: `…/D/CODE.SECRET`.
  public let complete: String

  /// The addresses of a code at a service, whose link carries a secret of its own: a scanned link is no guess.
  ///
  /// The secret costs nine characters, all of them in the alphanumeric mode of a QR symbol: a symbol of version 2 has
  /// room for 47. `…/D/CODE` without one is a typed code.
  ///
  /// With no path in the public address the complete one is written in capitals: a QR symbol holds those in its
  /// alphanumeric mode, which makes it a size smaller. Host names and schemes do not care, and our route does not
  /// either.
  public init(publicURL: String, code: RegistrationCode, secret: LinkSecret) {
    var base = publicURL[...]
    while base.last == "/" { base.removeLast() }
    url = String(base)
    let complete = "\(base)/D/\(ScannedCode(code, secret).text)"
    self.complete = Self.hasPath(base) ? complete : complete.uppercased()
  }

  private static func hasPath(_ url: Substring) -> Bool {
    // The two slashes after the scheme, and no third one.
    url.utf8.count { $0 == UInt8(ascii: "/") } > 2
  }
}
