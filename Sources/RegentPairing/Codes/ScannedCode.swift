/// What the link of a code carries besides the code, so that a scanned link is told from a guess: 40 bits.
///
/// Eight characters of base 32 without look-alikes, capitals and digits, which a QR symbol holds in its alphanumeric
/// mode.
public struct LinkSecret: Hashable, Sendable {
  /// How many characters it has.
  public static let length = 8
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  public let text: String

  /// The first 40 bits of a MAC; `nil` when there are fewer.
  public init?(_ mac: [UInt8]) {
    guard mac.count >= 5 else { return nil }
    let number = mac.prefix(5).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let letters = (0..<Self.length).map { Self.alphabet[Int(number >> (35 - 5 * UInt64($0)) & 31)] }
    text = String(decoding: letters, as: UTF8.self)
  }

  /// One that came back in a link, in any case; `nil` when it cannot be one.
  public init?(_ text: some StringProtocol) {
    let letters = Array(text.uppercased().utf8)
    guard letters.count == Self.length, letters.allSatisfy(Self.alphabet.contains) else { return nil }
    self.text = String(decoding: letters, as: UTF8.self)
  }
}

extension LinkSecret: CustomStringConvertible {
  /// Dots: whoever reads the log must not be able to use the link.
  public var description: String { "••••••••" }
}

/// A code as a link names it: `CODE.SECRET`, or `CODE` alone, which is as if it were typed.
public struct ScannedCode: Hashable, Sendable {
  public let code: RegistrationCode
  public let secret: LinkSecret?

  public init(_ code: RegistrationCode, _ secret: LinkSecret?) {
    self.code = code
    self.secret = secret
  }

  /// Reads the last step of a link, or what was typed; what stands behind a dot and cannot be a secret is ignored.
  public init(typed text: String) throws(CodeInputError) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      self.init(try RegistrationCode(typed: text), nil)
      return
    }
    self.init(try RegistrationCode(typed: String(parts[0])), LinkSecret(parts[1]))
  }

  /// As it stands in a link.
  public var text: String { secret.map { "\(code.wire).\($0.text)" } ?? code.wire }
}
