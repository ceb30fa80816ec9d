// QRCode: text to a matrix of modules, and that matrix to terminal text, SVG and PNG. Whether and where it is
// shown is decided by the agent.

/// A text as a square of dark and light modules.
///
/// The version is the smallest that holds the text at `minimumLevel`; what room is left in it is spent on more
/// error correction. A text of capitals, digits and `$%*+-./:` and spaces uses the alphanumeric mode, which makes
/// the square smaller: write addresses in upper case where the other side allows it.
public struct QRCode: Sendable, Equatable {
  /// How much of the square may be dirty or covered.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// About 7 % may be lost.
    case low
    /// About 15 % may be lost.
    case medium
    /// About 25 % may be lost.
    case quartile
    /// About 30 % may be lost.
    case high

    /// Less error correction comes first.
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// The light border that readers need: four modules by the standard, two are enough for phones.
  public static let standardQuietZone = 4

  /// The size class: 1 is 21 modules wide, each next one 4 more, 40 the largest.
  public let version: Int
  /// The error correction that was reached.
  public let level: Level
  /// Modules in a row, without the quiet zone.
  public let side: Int
  private let modules: [Bool]

  /// Makes the smallest code for a text, with the most error correction that fits into that size.
  public init(_ text: String, minimumLevel: Level = .low) throws(QRCodeError) {
    let smallest = try Encoding.encode(text, level: minimumLevel, version: 0)
    var best = (encoded: smallest, level: minimumLevel)
    for level in Level.allCases.reversed() where level > minimumLevel {
      // A request for a version that is too small gives a larger one, or none at the largest.
      guard let other = try? Encoding.encode(text, level: level, version: smallest.version),
        other.version == smallest.version
      else { continue }
      best = (other, level)
      break
    }
    version = best.encoded.version
    side = best.encoded.side
    modules = best.encoded.modules
    level = best.level
  }

  /// Whether the module in that column and row is dark; everything outside the square is light.
  public func isDark(_ x: Int, _ y: Int) -> Bool {
    guard x >= 0, y >= 0, x < side, y < side else { return false }
    return modules[y * side + x]
  }
}
