import RegentEncodings
import RegentJSON
public import RegentPairing

/// A box's question where its service is now, for a service that was found on the local network.
///
/// An announcement proves nothing. The service that the box was enrolled at knows the secret half of the box's key
/// pair, and proves that with a keyed hash of ``message(_:)``.
public struct ServiceProofRequest: Hashable, Sendable {
  public let publicKey: PublicKey
  /// A random value, so that an earlier response proves nothing.
  public let nonce: [UInt8]

  /// The length of ``nonce`` and of a proof in bytes.
  public static let length = 32
  /// The longest request or response that is read, in bytes.
  public static let longest = 4_096

  public init(publicKey: PublicKey, nonce: [UInt8]) {
    self.publicKey = publicKey
    self.nonce = nonce
  }

  /// Parses a request.
  ///
  /// Returns `nil` if it is malformed.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.longest,
      let members = try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: Self.longest)).object,
      let publicKey = members["publicKey"]?.string.flatMap({ PublicKey($0) }),
      let nonce = members["nonce"]?.string.flatMap({ try? Hex.decode($0) }), nonce.count == Self.length
    else { return nil }
    self.init(publicKey: publicKey, nonce: nonce)
  }

  public var bytes: [UInt8] {
    let object: JSONObject = ["publicKey": .string(publicKey.text), "nonce": .string(Hex.encode(nonce))]
    return object.bytes()
  }

  /// The input of the proof; neither a public key nor a nonce contains a space.
  ///
  /// - Parameter service: the service's public address. An attacker who forwards the request to the real service can
  ///   only hand on that address.
  /// - Returns: the bytes of the message.
  public func message(_ service: String) -> [UInt8] {
    Array("regent-service-1 \(publicKey.text) \(Hex.encode(nonce)) \(service)".utf8)
  }
}

/// The response to a ``ServiceProofRequest``.
public struct ServiceProof: Hashable, Sendable {
  /// The service's public address, as its operator configured it.
  public let service: String
  /// The HMAC-SHA256 of ``ServiceProofRequest/message(_:)`` with the secret half of the key pair.
  public let proof: [UInt8]

  public init(service: String, proof: [UInt8]) {
    self.service = service
    self.proof = proof
  }

  /// Parses a response.
  ///
  /// Returns `nil` if it is malformed.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= ServiceProofRequest.longest,
      let value = try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: ServiceProofRequest.longest)),
      let service = value["service"]?.string, let proof = value["proof"]?.string.flatMap({ try? Hex.decode($0) }),
      proof.count == ServiceProofRequest.length
    else { return nil }
    self.init(service: service, proof: proof)
  }

  public var bytes: [UInt8] {
    let object: JSONObject = ["service": .string(service), "proof": .string(Hex.encode(proof))]
    return object.bytes()
  }
}
