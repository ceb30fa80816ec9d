import RegentJSON
public import RegentPairing
import RegentEncodings

/// What a box sends to redeem an enrolment code, of which it sends four letters and a proof of the others.
public struct EnrolmentRequest: Hashable, Sendable {
  /// Which invitation.
  public let id: EnrolmentID
  /// What the box calls itself for this one code: the same when it asks again, and nothing that anybody knows it by.
  public let box: [UInt8]
  /// That it knows the rest of the code, made over ``message(id:box:)``.
  public let proof: [UInt8]

  /// How long box and proof are, in bytes.
  public static let hashLength = 32
  /// Longer bodies are none.
  public static let longest = 1024

  public init(id: EnrolmentID, box: [UInt8], proof: [UInt8]) {
    self.id = id
    self.box = box
    self.proof = proof
  }

  /// Reads a request; none when it is not one.
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

  /// What the proof is made over and the answer is bound to: all fields have one length.
  public static func message(id: EnrolmentID, box: [UInt8]) -> [UInt8] {
    Array("regent-enrol-1 \(id.text) ".utf8) + box
  }

  /// What the slow key of a code is for.
  public static let purpose = "regent-enrolment"
}

/// The answer: sealed with the code's key, so that only who knows the code reads it or can have made it.
public struct EnrolmentAnswer: Hashable, Sendable {
  public let sealed: [UInt8]

  public init(sealed: [UInt8]) { self.sealed = sealed }

  /// Reads an answer; none when it is not one.
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

/// What is in the sealed answer: all that a box needs.
public struct EnrolmentGrant: Hashable, Sendable {
  public let requestor: RequestorID
  public let publicKey: PublicKey
  /// The secret half of the box's own key pair.
  public let secret: String
  /// The service's public address, as its operator set it.
  public let service: String

  public init(requestor: RequestorID, publicKey: PublicKey, secret: String, service: String) {
    self.requestor = requestor
    self.publicKey = publicKey
    self.secret = secret
    self.service = service
  }

  /// Reads a grant; none when it is not one.
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
