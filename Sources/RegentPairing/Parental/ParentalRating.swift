/// How a resource is rated in one scheme.
public struct ParentalRating: Hashable, Sendable {
  public let scheme: RatingScheme
  /// The rating there, as it was written.
  public let value: String

  public init(scheme: RatingScheme, value: String) {
    self.scheme = scheme
    self.value = value
  }
}

/// A system of ratings.
public enum RatingScheme: Hashable, Sendable {
  /// Films in the United States: G, PG, PG-13, R, NC-17.
  case mpaa
  /// Television in the United States: TV-Y … TV-MA.
  case vchip
  /// Media RSS's own: nonadult, adult.
  case simple
  /// Any other, by its name; ordered when its ratings are numbers (FSK, PEGI, ages).
  case other(String)

  /// The scheme of an account's rating (`MPAA`) or of a `media:rating` element (`urn:mpaa`).
  public init(_ name: String) {
    var folded = name.asciiLowercased
    if folded.hasPrefix("urn:") { folded.removeFirst(4) }
    switch folded {
    case "mpaa": self = .mpaa
    case "v-chip", "vchip": self = .vchip
    // Media RSS: an absent scheme attribute means urn:simple.
    case "simple", "": self = .simple
    default: self = .other(folded)
    }
  }

  /// The name under which an account's rating is listed.
  public var name: String {
    switch self {
    case .mpaa: "MPAA"
    case .vchip: "VCHIP"
    case .simple: "SIMPLE"
    // No scheme but a place to manage them, and documented in capitals.
    case .other("url"): "URL"
    case .other(let name): name
    }
  }
}

extension ParentalRating {
  /// The rating's place in its scheme, higher for older viewers; none for a value that the scheme does not have.
  var rank: Int? {
    switch scheme {
    case .mpaa: Self.mpaa.firstIndex(of: folded)
    case .vchip: Self.vchip.firstIndex(of: folded == "TVY7FV" ? "TVY7" : folded)
    case .simple: Self.simple.firstIndex(of: folded)
    case .other: Int(value).flatMap { $0 >= 0 ? $0 : nil }
    }
  }

  /// From which age on, for comparing ratings of different schemes.
  var age: Int? {
    guard let rank else { return nil }
    switch scheme {
    case .mpaa: return [0, 8, 13, 17, 18][rank]
    case .vchip: return [0, 7, 0, 8, 14, 17][rank]
    case .simple: return [0, 18][rank]
    // Another scheme's number may be an age or a level: nobody can tell.
    case .other: return nil
    }
  }

  private static let mpaa = ["G", "PG", "PG13", "R", "NC17"]
  private static let vchip = ["TVY", "TVY7", "TVG", "TVPG", "TV14", "TVMA"]
  private static let simple = ["NONADULT", "ADULT"]

  /// Letters and digits only, in capitals: `tv-pg`, `TV PG` and `TVPG` are one rating.
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
