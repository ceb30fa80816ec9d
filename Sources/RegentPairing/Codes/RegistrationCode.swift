/// A registration code: eight letters from an alphabet without vowels and look-alike letters.
///
/// Without vowels a code spells no word; without digits a viewer cannot confuse 0 and O. There are 20⁸ = 2.56·10¹⁰
/// codes (34.6 bits). That is too short to resist guessing by itself: limits on wrong guesses and on the number of live
/// codes protect it.
public struct RegistrationCode: Hashable, Sendable {
  /// The letters in order.
  ///
  /// A letter's position is its digit in ``ordinal``.
  public static let alphabet: [UInt8] = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)

  /// For each letter from A to Z its index in ``alphabet``, or -1 for a letter that no code has.
  static let places: [Int] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map {
    alphabet.firstIndex(of: $0) ?? -1
  }

  /// The number of letters in a code.
  public static let length = 8

  /// The number of possible codes: 20⁸.
  public static let count: UInt64 = 25_600_000_000

  /// The code as a number in base 20, first letter most significant.
  ///
  /// It takes eight bytes; a string would take more.
  public let ordinal: UInt64

  /// Draws a code; each is equally likely.
  ///
  /// Pass the system's cryptographic generator. `UInt64.random(in:using:)` rejects values beyond the last full range;
  /// taking a remainder (`b % 20` in spring-authorization-server) would make some letters more likely.
  public init(drawnFrom generator: inout some RandomNumberGenerator) {
    ordinal = UInt64.random(in: 0..<Self.count, using: &generator)
  }

  public init?(ordinal: UInt64) {
    guard ordinal < Self.count else { return nil }
    self.ordinal = ordinal
  }

  /// The code in the protocol: eight letters without a dash.
  public var wire: String {
    String(decoding: letters, as: UTF8.self)
  }

  /// The code as people read it: `XXXX-XXXX`.
  public var display: String {
    let letters = letters
    return String(decoding: letters.prefix(4), as: UTF8.self) + "-"
      + String(decoding: letters.suffix(4), as: UTF8.self)
  }

  /// The eight letters as ASCII.
  ///
  /// The keyed hash under which a code is stored is computed over them.
  public var letters: [UInt8] {
    var letters = Array(repeatElement(UInt8(0), count: Self.length))
    var rest = ordinal
    for place in letters.indices.reversed() {
      letters[place] = Self.alphabet[Int(rest % 20)]
      rest /= 20
    }
    return letters
  }
}

extension RegistrationCode: CustomStringConvertible {
  /// Eight dots in place of the code, because a reader of the log could use a live code.
  public var description: String { "••••-••••" }
}
