public import RegentJSON

/// Public keys as a JSON document (RFC 7517 §5), as a service publishes them.
public struct JWKSet: Sendable, Equatable {
  /// The maximum length of a JWK set in bytes.
  ///
  /// The reader refuses longer ones.
  public static let longest = 64 * 1024
  /// The maximum number of keys in a JWK set.
  public static let mostKeys = 64

  public let keys: [JWK]

  public init(_ keys: [JWK]) {
    self.keys = keys
  }

  /// Reads a JWK set from a JSON text.
  ///
  /// The reader leaves out keys that are not supported here, as the RFC demands. It refuses two supported keys with the
  /// same id and algorithm, because a signature would not say which of them to use.
  public init(reading document: [UInt8]) throws(KeyError) {
    let members: [JSONValue]
    do {
      let limits = JSONLimits(depth: 8, bytes: JWKSet.longest)
      guard let object = try JSONValue(reading: document, limits: limits).object else {
        throw KeyError.malformed("a JWK set is a JSON object")
      }
      members = try object.array("keys")
    } catch {
      throw .malformed("JWK set: \(error)")
    }
    guard members.count <= JWKSet.mostKeys else {
      throw .malformed("a JWK set of more than \(JWKSet.mostKeys) keys")
    }
    var keys: [JWK] = []
    for member in members {
      guard let object = member.object else { throw .malformed("a key of a JWK set is an object") }
      guard let key = try? JWK(reading: object) else { continue }
      let isRepeated = keys.contains {
        $0.keyID != nil && $0.keyID.map { Array($0.utf8) } == key.keyID.map { Array($0.utf8) }
          && $0.key.algorithm == key.key.algorithm
      }
      guard !isRepeated else { throw .malformed("a JWK set with two keys of one id") }
      keys.append(key)
    }
    self.keys = keys
  }

  /// All keys of the set with this id and algorithm.
  ///
  /// If `keyID` is nil, all keys with this algorithm.
  public func keys(_ keyID: String?, _ algorithm: SignatureAlgorithm) -> [VerifyingKey] {
    let wanted = keyID.map { Array($0.utf8) }
    return keys.filter {
      $0.key.algorithm == algorithm && (wanted == nil || $0.keyID.map { Array($0.utf8) } == wanted)
    }.map(\.key)
  }

  /// The first key of the set with this id and algorithm.
  ///
  /// In a set that was read from a document there is only one.
  public func key(_ keyID: String, _ algorithm: SignatureAlgorithm) -> VerifyingKey? {
    for key in keys where key.key.algorithm == algorithm {
      if let id = key.keyID, Self.areSame(id.utf8.span, keyID.utf8.span) { return key.key }
    }
    return nil
  }

  private static func areSame(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    for place in one.indices where one[place] != other[place] { return false }
    return true
  }

  public var json: JSONObject {
    ["keys": .array(keys.map { .object($0.json) })]
  }
}
