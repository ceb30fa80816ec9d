/// A parental rating of a resource or account in one scheme.
public struct ParentalRating: Hashable, Sendable {
  public let scheme: RatingScheme
  /// The rating as it was written, such as `TV-PG`.
  public let value: String

  public init(scheme: RatingScheme, value: String) {
    self.scheme = scheme
    self.value = value
  }
}

public enum RatingScheme: Hashable, Sendable {
  /// The scheme for films in the United States: G, PG, PG-13, R, NC-17.
  case mpaa
  /// The scheme for television in the United States: TV-Y to TV-MA.
  case vchip
  /// The scheme that Media RSS defines, with two ratings: nonadult and adult.
  case simple
  /// Any other scheme, by its name.
  ///
  /// Its ratings can be compared if they are numbers (FSK, PEGI, ages).
  case other(String)

  /// Parses the scheme of an account's rating (`MPAA`) or of a `media:rating` element (`urn:mpaa`).
  public init(_ name: String) {
    var folded = name.asciiLowercased
    if folded.hasPrefix("urn:") { folded.removeFirst(4) }
    switch folded {
    case "mpaa": self = .mpaa
    case "v-chip", "vchip": self = .vchip
    // In Media RSS, a missing scheme attribute means `urn:simple`.
    case "simple", "": self = .simple
    default: self = .other(folded)
    }
  }

  /// The rating scheme's name, as the user metadata contains it.
  public var name: String {
    switch self {
    case .mpaa: "MPAA"
    case .vchip: "VCHIP"
    case .simple: "SIMPLE"
    // `URL` is not a rating scheme. It is the key for the address of the page that manages ratings, which the protocol
    // spells in capitals.
    case .other("url"): "URL"
    case .other(let name): name
    }
  }
}

extension ParentalRating {
  /// The rating's position in the order of its scheme, higher for ratings of older viewers; nil if the scheme does not
  /// define the value.
  var rank: Int? {
    switch scheme {
    case .mpaa: Self.mpaa.firstIndex(of: folded)
    case .vchip: Self.vchip.firstIndex(of: folded == "TVY7FV" ? "TVY7" : folded)
    case .simple: Self.simple.firstIndex(of: folded)
    case .other: Int(value).flatMap { $0 >= 0 ? $0 : nil }
    }
  }

  /// The minimum age of viewers for this rating, with which ratings of different schemes are compared; nil if unknown.
  var age: Int? {
    guard let rank else { return nil }
    switch scheme {
    case .mpaa: return [0, 8, 13, 17, 18][rank]
    case .vchip: return [0, 7, 0, 8, 14, 17][rank]
    case .simple: return [0, 18][rank]
    // In another scheme, a number may be an age or a level, so no age is derived from it.
    case .other: return nil
    }
  }

  private static let mpaa = ["G", "PG", "PG13", "R", "NC17"]
  private static let vchip = ["TVY", "TVY7", "TVG", "TVPG", "TV14", "TVMA"]
  private static let simple = ["NONADULT", "ADULT"]

  /// Only the letters and digits of the rating, in capitals, so that spellings compare as equal: `tv-pg`, `TV PG` and
  /// `TVPG` are the same rating.
  private var folded: String {
    String(
      decoding: value.utf8.compactMap { byte -> UInt8? in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 0x20
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
        default: nil
        }
      }, as: UTF8.self)
  }
}
