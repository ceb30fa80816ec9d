import RegentJSON
public import RegentPairing
import RegentEncodings

/// A box's request to redeem an enrolment code.
///
/// It contains four letters of the code, and a proof that the box knows the other letters.
public struct EnrolmentRequest: Hashable, Sendable {
  /// The id of the invitation: the first four letters of the enrolment code.
  public let id: EnrolmentID
  /// A pseudonym of the box for this code.
  ///
  /// The pseudonym stays the same when the box retries. It reveals nothing about the box to a reader who does not know
  /// the code.
  public let box: [UInt8]
  /// The proof that the box knows the secret letters of the code: a keyed hash of ``message(id:box:)``.
  public let proof: [UInt8]

  /// The length of ``box`` and ``proof`` in bytes.
  public static let hashLength = 32
  /// The longest body of an enrolment request that is read, in bytes.
  public static let longest = 1024

  public init(id: EnrolmentID, box: [UInt8], proof: [UInt8]) {
    self.id = id
    self.box = box
    self.proof = proof
  }

  /// Parses an enrolment request.
  ///
  /// Returns `nil` if it is malformed.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.longest,
      let members = try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: Self.longest)).object,
      let id = members["id"]?.string.flatMap({ EnrolmentID($0) }), id.text.utf8.count == EnrolmentCode.idLength,
      let box = members["box"]?.string.flatMap({ try? Hex.decode($0) }), box.count == Self.hashLength,
      let proof = members["proof"]?.string.flatMap({ try? Hex.decode($0) }), proof.count == Self.hashLength
    else { return nil }
    self.init(id: id, box: box, proof: proof)
  }

  public var bytes: [UInt8] {
    let object: JSONObject = [
      "id": .string(id.text), "box": .string(Hex.encode(box)), "proof": .string(Hex.encode(proof)),
    ]
    return object.bytes()
  }

  /// The text of which the proof is a keyed hash.
  ///
  /// The response is bound to this text too. All its fields have a fixed length.
  public static func message(id: EnrolmentID, box: [UInt8]) -> [UInt8] {
    Array("regent-enrol-1 \(id.text) ".utf8) + box
  }

  /// A label that is hashed with the code, so that the derived key serves for enrolment only.
  public static let purpose = "regent-enrolment"
}

/// The response to an ``EnrolmentRequest``: an ``EnrolmentGrant``, encrypted and authenticated with a key derived from
/// the code.
public struct EnrolmentAnswer: Hashable, Sendable {
  public let sealed: [UInt8]

  public init(sealed: [UInt8]) { self.sealed = sealed }

  /// Parses the response to an enrolment request.
  ///
  /// Returns `nil` if it is malformed.
  public init?(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: 65_536)),
      let sealed = value["sealed"]?.string.flatMap({ try? Hex.decode($0) })
    else { return nil }
    self.sealed = sealed
  }

  public var bytes: [UInt8] {
    let object: JSONObject = ["sealed": .string(Hex.encode(sealed))]
    return object.bytes()
  }
}

/// The decrypted content of an ``EnrolmentAnswer``: everything that a box needs to call the service.
public struct EnrolmentGrant: Hashable, Sendable {
  public let requestor: RequestorID
  public let publicKey: PublicKey
  /// The secret half of the key pair that was made for this box.
  public let secret: String
  /// The service's public address, as its operator configured it.
  public let service: String

  public init(requestor: RequestorID, publicKey: PublicKey, secret: String, service: String) {
    self.requestor = requestor
    self.publicKey = publicKey
    self.secret = secret
    self.service = service
  }

  /// Parses the decrypted content of an enrolment response.
  ///
  /// Returns `nil` if it is malformed.
  public init?(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: 65_536)),
      let requestor = value["requestor"]?.string.flatMap({ RequestorID($0) }),
      let publicKey = value["publicKey"]?.string.flatMap({ PublicKey($0) }),
      let secret = value["secret"]?.string, let service = value["service"]?.string
    else { return nil }
    self.init(requestor: requestor, publicKey: publicKey, secret: secret, service: service)
  }

  public var bytes: [UInt8] {
    let object: JSONObject = [
      "requestor": .string(requestor.text), "publicKey": .string(publicKey.text), "secret": .string(secret),
      "service": .string(service),
    ]
    return object.bytes()
  }
}
