package import HTTPServer
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The endpoint with the viewer's attributes for an app.
package struct MetadataRoutes: Sendable {
  private let core: ServiceCore
  private let endpoints: V1Endpoints
  private let changes: AttributeChanges

  package init(_ core: ServiceCore) {
    self.core = core
    endpoints = V1Endpoints(core)
    changes = AttributeChanges(at: core.clock.now)
  }

  package func mount(_ routes: inout Routes) {
    endpoints.mount(&routes, [.get], "/api/v1/tokens/usermetadata", takesGrants: true) { call throws(CallError) in
      let device = try call.device()
      return .later { [core] in
        let viewer = try await core.signedIn(call, device, for: .toRead)
        let about = ViewerAttributes(
          device: viewer, userID: core.userID(of: viewer.record), use: try await used(viewer))
        let attributes = try attributes(about, for: call.requestor)
        guard !attributes.isEmpty else { throw CallError(.notFound) }
        let updated = changes.note(
          about.digest, of: viewer.authentication.id, since: about.since, at: core.clock.now)
        return call.reply(
          UserMetadataDocument(updated: updated.milliseconds / 1000, attributes: attributes))
      }
    }
  }

  private func used(_ viewer: SignedInDevice) async throws(StoreError) -> TemporaryPassUse? {
    guard viewer.pass != nil else { return nil }
    return try await core.passUse(of: viewer)
  }

  /// The viewer's attributes that an operator allowed the requestor to read.
  private func attributes(_ about: ViewerAttributes, for requestor: Requestor) throws
    -> [UserMetadataDocument.Attribute]
  {
    try MetadataKey.documented.filter(requestor.metadataKeys.contains).compactMap { key in
      guard let value = about.value(of: key) else { return nil }
      guard key.isPersonal, let certificate = requestor.certificate else {
        return UserMetadataDocument.Attribute(name: key.rawValue, value: value)
      }
      return UserMetadataDocument.Attribute(
        name: key.rawValue, value: .text(try encrypted(value, certificate, requestor.id, key)),
        isEncrypted: true)
    }
  }

  /// Encrypts an attribute's value: with RSA PKCS #1 v1.5 if it fits one block, because existing apps decrypt that
  /// form, else as a JWE.
  ///
  /// Attacks on PKCS #1 v1.5 need a program that decrypts texts for the attacker; this service decrypts none.
  private func encrypted(
    _ value: UserMetadataDocument.Value, _ certificate: String, _ requestor: RequestorID,
    _ key: MetadataKey
  ) throws -> String {
    do {
      let receiver = try RSAEncryptionKey(pem: certificate)
      let text = Array(value.clearText.utf8)
      guard text.count > receiver.longestMessage(.pkcs1) else {
        return Base64.encode(try receiver.encrypt(text, .pkcs1))
      }
      return try JWE.encrypt(json: value.json.bytes(), for: receiver)
    } catch {
      // The request fails, so that the value is never sent unencrypted.
      core.log.error(
        "metadata-not-encrypted", ("requestor", requestor.text), ("attribute", key.rawValue),
        ("reason", "\(error)"))
      throw CallError(.internalServerError, code: .internalError)
    }
  }
}

extension UserMetadataDocument.Value {
  /// The attribute's value for a JWE, in which lists stay lists.
  fileprivate var json: JSONValue {
    if case .list(let texts) = self { .array(texts.map { .string($0) }) } else { .string(clearText) }
  }

  /// The attribute's value for encryption with PKCS #1 v1.5, where a list is joined with commas.
  fileprivate var clearText: String {
    switch self {
    case .text(let text): text
    case .list(let texts): texts.joined(separator: ",")
    case .number(let number): String(number)
    case .structure(let members):
      members.map { "\($0.name)=\($0.value.clearText)" }.joined(separator: ",")
    case .map(let entries): entries.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    }
  }
}
