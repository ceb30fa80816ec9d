import RegentEncodings

/// The keyed hash under which the store keeps and finds a secret value: a code, a token, a device id or an identity.
///
/// An attacker who copies the database gets no usable code, cookie or device id. The service computes the hashes
/// (HMAC-SHA256 with a key from ``KeyStore/keyMaterial(for:)``) because it also looks codes up in memory; a store only
/// compares them.
public struct KeyedHash<Kind>: Hashable, Sendable {
  // Four integers instead of an array: every poll makes a hash and looks it up, and integers need no memory allocation.
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

  /// Makes a hash of exactly 32 bytes; fails for any other number of bytes.
  public init?(_ bytes: [UInt8]) { self.init(bytes.span) }

  /// Makes a hash of exactly 32 bytes; fails for any other number of bytes.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 32 else { return nil }
    func word(_ start: Int) -> UInt64 {
      var word: UInt64 = 0
      for place in start..<(start + 8) { word = word << 8 | UInt64(bytes[place]) }
      return word
    }
    words = (word(0), word(8), word(16), word(24))
  }

  public static func == (one: KeyedHash, other: KeyedHash) -> Bool { one.words == other.words }

  /// Hashes only the first of the four words.
  ///
  /// That is safe: without the secret key an attacker cannot choose that word, and so cannot produce colliding
  /// dictionary entries.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// The kinds of ``KeyedHash``, so that the compiler does not accept a hash of another kind.
public enum Hashed {
  /// The kind of a registration code's hash, made of the code's eight letters.
  public enum Code {}
  /// The kind of the hash of a session cookie, a client secret or another bearer token.
  public enum Token {}
  public enum Device {}
  /// The kind of a screen's hash; see ``ScreenHash``.
  public enum Screen {}
  /// The kind of the hash of a viewer identity, which an app sends for a promotional temporary pass.
  public enum Identity {}
}

public typealias CodeHash = KeyedHash<Hashed.Code>
public typealias TokenHash = KeyedHash<Hashed.Token>
public typealias DeviceHash = KeyedHash<Hashed.Device>
/// The hash of a screen: a device together with the requestor whose app it runs and the signed-in viewer.
public typealias ScreenHash = KeyedHash<Hashed.Screen>
public typealias IdentityHash = KeyedHash<Hashed.Identity>

/// Secret bytes that printing and debugging must not show.
///
/// A store encrypts them before it writes them to disk.
public struct StoredSecret: Hashable, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible,
  CustomReflectable
{
  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  public var description: String { "(secret)" }

  public var debugDescription: String { description }

  /// Hides the bytes from `dump` and from debugger summaries.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
