/// A 40-bit secret in the link of a code, with which the service tells a scanned link from a guessed code.
///
/// It has eight characters of base 32 (capitals and digits without look-alikes), which a QR code stores compactly in
/// its alphanumeric mode.
public struct LinkSecret: Hashable, Sendable {
  public static let length = 8
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  public let text: String

  /// Takes the secret from the first 40 bits of a MAC.
  ///
  /// Returns nil if the MAC is shorter.
  public init?(_ mac: [UInt8]) {
    guard mac.count >= 5 else { return nil }
    let number = mac.prefix(5).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let letters = (0..<Self.length).map { Self.alphabet[Int(number >> (35 - 5 * UInt64($0)) & 31)] }
    text = String(decoding: letters, as: UTF8.self)
  }

  /// Reads a secret from a link, in either case; nil if the text is not one.
  public init?(_ text: some StringProtocol) {
    let letters = Array(text.uppercased().utf8)
    guard letters.count == Self.length, letters.allSatisfy(Self.alphabet.contains) else { return nil }
    self.text = String(decoding: letters, as: UTF8.self)
  }
}

extension LinkSecret: CustomStringConvertible {
  /// Dots in place of the secret, so that a reader of the log cannot use the link.
  public var description: String { "••••••••" }
}

/// A code as it stands in a link: `CODE.SECRET`, or `CODE` alone, which counts as a typed code.
public struct ScannedCode: Hashable, Sendable {
  public let code: RegistrationCode
  public let secret: LinkSecret?

  public init(_ code: RegistrationCode, _ secret: LinkSecret?) {
    self.code = code
    self.secret = secret
  }

  /// Reads the last path segment of a link, or typed text.
  ///
  /// Text after the dot that is not a valid secret is ignored.
  public init(typed text: String) throws(CodeInputError) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      self.init(try RegistrationCode(typed: text), nil)
      return
    }
    self.init(try RegistrationCode(typed: String(parts[0])), LinkSecret(parts[1]))
  }

  /// The text for a link: `CODE.SECRET`, or `CODE` without a secret.
  public var text: String { secret.map { "\(code.wire).\($0.text)" } ?? code.wire }
}
