/// A registration code: eight letters of an alphabet without vowels and look-alikes.
///
/// Without vowels no code spells a word; without digits nobody has to tell 0 from O. 20⁸ = 2.56·10¹⁰ codes (34.6 bits):
/// guessing is made hopeless by limits on wrong codes and on live codes, not by length.
public struct RegistrationCode: Hashable, Sendable {
  /// The letters in order; their positions are the digits of ``ordinal``.
  public static let alphabet: [UInt8] = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)

  /// Where each letter from A to Z stands in the alphabet; -1 where it does not.
  static let places: [Int] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map {
    alphabet.firstIndex(of: $0) ?? -1
  }

  /// How many letters a code has.
  public static let length = 8

  /// How many codes there are: 20⁸.
  public static let count: UInt64 = 25_600_000_000

  /// The code as a number in base 20, first letter most significant: eight bytes instead of a string.
  public let ordinal: UInt64

  /// Draws a code, every one equally likely.
  ///
  /// The generator must be the system's cryptographic one. The bounded draw rejects the uneven rest instead of taking
  /// a remainder, which would make some letters likelier (spring-authorization-server's `b % 20`).
  public init(drawnFrom generator: inout some RandomNumberGenerator) {
    ordinal = UInt64.random(in: 0..<Self.count, using: &generator)
  }

  public init?(ordinal: UInt64) {
    guard ordinal < Self.count else { return nil }
    self.ordinal = ordinal
  }

  /// The wire form: eight letters without a dash.
  public var wire: String {
    String(decoding: letters, as: UTF8.self)
  }

  /// The form for people: `XXXX-XXXX`.
  public var display: String {
    let letters = letters
    return String(decoding: letters.prefix(4), as: UTF8.self) + "-"
      + String(decoding: letters.suffix(4), as: UTF8.self)
  }

  /// The eight letters as ASCII: what the keyed hash of a code is made over.
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
  /// Eight dots: a live code in a log line could be used by whoever reads the log.
  public var description: String { "••••-••••" }
}
