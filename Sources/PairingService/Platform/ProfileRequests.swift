internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Creates and verifies profile requests: signed texts that boxes answer with an assertion.
///
/// A request is not stored when it is created, so a client that fetches a thousand costs no memory. Once it is used,
/// the store remembers it until it expires.
package struct ProfileRequests: Sendable {
  private let key: HMACKey
  private let issuer: String

  init(_ store: some KeyStore, issuer: String) async throws {
    let material = Secret(try await store.keyMaterial(for: .statements))
    key = try HMACKey(.sha256, HKDF.derive(from: material, info: "profile request"))
    self.issuer = issuer
  }

  func make(
    for requestor: RequestorID, device: DeviceHash, provider: ProviderID, at now: Instant
  ) throws(JWSError) -> String {
    let request = ProfileRequest(
      id: Random.uuid(), issuer: issuer, requestor: requestor, device: Hex.encode(device.bytes), provider: provider,
      issued: now)
    return try JWS.authenticate(request.claims.bytes(), with: key, keyID: nil, type: ProfileRequest.type)
  }

  /// Verifies a profile request and returns its content; nil unless this service made it and it has not expired.
  func read(_ text: String, at now: Instant) -> ProfileRequest? {
    guard let verified = try? UnverifiedJWS(text, longest: ProfileRequest.longest).verified(with: key),
      verified.isType(ProfileRequest.type), let claims = try? verified.claims(),
      let request = ProfileRequest(claims), request.issuer.utf8.elementsEqual(issuer.utf8), now < request.expires
    else { return nil }
    return request
  }

  /// Verifies a box's assertion and returns its content.
  ///
  /// The box's key must have signed it recently for this service, and it must contain a valid profile request.
  func read(
    _ word: UnverifiedJWS, by box: BoxRecord, at now: Instant
  ) -> (assertion: PlatformAssertion, request: ProfileRequest)? {
    guard let key = try? VerifyingKey(spki: box.key), key.algorithm == .edDSA,
      let verified = try? word.verified(with: key), verified.isType(PlatformAssertion.type),
      let claims = try? verified.claims(), let assertion = PlatformAssertion(claims),
      assertion.box.utf8.elementsEqual(box.id.text.utf8), assertion.audience.utf8.elementsEqual(issuer.utf8),
      assertion.isFresh(at: now), let request = read(assertion.request, at: now), assertion.provider == request.provider
    else { return nil }
    return (assertion, request)
  }
}
