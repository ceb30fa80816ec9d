public import RegentPairing

/// The two URLs that a box shows: one at which the viewer types the code, and one in the QR code.
public struct VerificationLink: Hashable, Sendable {
  /// The URL at which the viewer types the code: the service's public address, which is short.
  public let url: String
  /// The URL in the QR code: `…/D/CODE.SECRET`.
  public let complete: String

  /// Builds the two URLs for a code.
  ///
  /// The address for the QR code contains a secret, which shows the service that the code was scanned and not guessed.
  ///
  /// The secret takes nine characters, all of which exist in the alphanumeric mode of QR codes. A symbol of version 2
  /// holds 47 such characters. A URL `…/D/CODE` without a secret counts as a typed code.
  ///
  /// If the public address has no path, the address is written in upper case, so that the alphanumeric mode can hold
  /// all of it and the symbol is one size smaller. Schemes, host names and the service's route ignore case.
  public init(publicURL: String, code: RegistrationCode, secret: LinkSecret) {
    var base = publicURL[...]
    while base.last == "/" { base.removeLast() }
    url = String(base)
    let complete = "\(base)/D/\(ScannedCode(code, secret).text)"
    self.complete = Self.hasPath(base) ? complete : complete.uppercased()
  }

  private static func hasPath(_ url: Substring) -> Bool {
    // A URL without a path has exactly the two slashes after the scheme.
    url.utf8.count { $0 == UInt8(ascii: "/") } > 2
  }
}
