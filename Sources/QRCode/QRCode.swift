// QRCode: turns text into a matrix of modules, and the matrix into terminal text, SVG and PNG.
// The agent decides whether and where the code is shown.

/// A text as a square of dark and light modules.
///
/// The code has the smallest version (size) that holds the text at `minimumLevel`. Space that is left in this version
/// is used for a higher error-correction level. A text of capitals, digits, spaces and `$%*+-./:` uses the alphanumeric
/// mode, which gives a smaller code: write addresses in upper case where the server accepts it.
public struct QRCode: Sendable, Equatable {
  /// The error-correction level: the share of the code that may be dirty or covered.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// A scanner can read the code although about 7 % of it is lost.
    case low
    /// A scanner can read the code although about 15 % of it is lost.
    case medium
    /// A scanner can read the code although about 25 % of it is lost.
    case quartile
    /// A scanner can read the code although about 30 % of it is lost.
    case high

    /// Orders error-correction levels from the lowest to the highest.
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// The width of the light border around a code, in modules.
  ///
  /// The standard demands four; phones need only two.
  public static let standardQuietZone = 4

  /// The size class of the code, 1 to 40.
  ///
  /// Version 1 is 21 modules wide, and each version is 4 modules wider than the one before.
  public let version: Int
  /// The error-correction level of this code: at least `minimumLevel`, or higher if the code's size had space for it.
  public let level: Level
  /// The width of the code in modules, without the light border.
  public let side: Int
  private let modules: [Bool]

  /// Makes the smallest code for a text, with the highest error-correction level that fits into that size.
  public init(_ text: String, minimumLevel: Level = .low) throws(QRCodeError) {
    let smallest = try Encoding.encode(text, level: minimumLevel, version: 0)
    var best = (encoded: smallest, level: minimumLevel)
    for level in Level.allCases.reversed() where level > minimumLevel {
      // If the text does not fit the requested size at this error-correction level, libqrencode chooses a larger
      // version, or fails when there is none.
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

  /// Whether the module in column `x` and row `y` is dark; modules outside the square are light.
  public func isDark(_ x: Int, _ y: Int) -> Bool {
    guard x >= 0, y >= 0, x < side, y < side else { return false }
    return modules[y * side + x]
  }
}
