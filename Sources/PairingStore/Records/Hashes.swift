import RegentEncodings

/// The keyed hash under which a secret thing is kept and found: codes, tokens, devices, identities.
///
/// Whoever has the database has no code, no cookie and no device id. The service makes the hashes (HMAC-SHA256 with
/// the key of ``KeyStore/keyMaterial(for:)``), because it looks live codes up in memory; a store only compares them.
public struct KeyedHash<Kind>: Hashable, Sendable {
  // Four words instead of an array: every poll makes one and looks it up, and nothing is allocated for it.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  public var bytes: [UInt8] {
    var bytes = [UInt8](zeros: 32)
    func put(_ word: UInt64, at start: Int) {
      for place in 0..<8 { bytes[start + place] = UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * place)) }
    }
    put(words.0, at: 0)
    put(words.1, at: 8)
    put(words.2, at: 16)
    put(words.3, at: 24)
    return bytes
  }

  /// A hash; refused when it has not 32 bytes.
  public init?(_ bytes: [UInt8]) { self.init(bytes.span) }

  /// A hash; refused when it has not 32 bytes.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 32 else { return nil }
    func word(_ start: Int) -> UInt64 {
      var word: UInt64 = 0
      for place in start..<(start + 8) { word = word << 8 | UInt64(bytes[place]) }
      return word
    }
    words = (word(0), word(8), word(16), word(24))
  }

  /// Whether it is the hash of the same thing.
  public static func == (one: KeyedHash, other: KeyedHash) -> Bool { one.words == other.words }

  /// The first word is as random as all four: nobody without the key can choose it.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// What is kept as a keyed hash.
public enum Hashed {
  /// Registration codes, over their eight letters.
  public enum Code {}
  /// Session cookies, client secrets and other bearer tokens.
  public enum Token {}
  /// Device ids.
  public enum Device {}
  /// Screens: a device, whose app it runs and who is signed in there.
  public enum Screen {}
  /// What a promotional pass was told about its viewer.
  public enum Identity {}
}

/// The hash of a registration code.
public typealias CodeHash = KeyedHash<Hashed.Code>
/// The hash of a bearer token.
public typealias TokenHash = KeyedHash<Hashed.Token>
/// The hash of a device id.
public typealias DeviceHash = KeyedHash<Hashed.Device>
/// The hash of a screen: another requestor's app on the same device is another screen, and so is another viewer's.
public typealias ScreenHash = KeyedHash<Hashed.Screen>
/// The hash of an identity.
public typealias IdentityHash = KeyedHash<Hashed.Identity>

/// Bytes that must not be printed: a store seals them before they touch a disk.
public struct StoredSecret: Hashable, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible,
  CustomReflectable
{
  /// The bytes, for computing with.
  public let bytes: [UInt8]

  /// Keeps bytes from being printed by accident.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Says only that it is there.
  public var description: String { "(secret)" }

  /// Says only that it is there.
  public var debugDescription: String { description }

  /// Shows nothing to `dump` and to debuggers' summaries.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
