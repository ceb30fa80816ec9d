internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Makes and knows the requests that the boxes' platform accounts answer.
///
/// Nothing of one is kept until it is answered: whoever asks for a thousand costs no memory, and what is answered is
/// remembered as used until its time is over, in the store.
package struct ProfileRequests: Sendable {
  private let key: HMACKey
  private let issuer: String

  init(_ store: some KeyStore, issuer: String) async throws {
    let material = Secret(try await store.keyMaterial(for: .statements))
    key = try HMACKey(.sha256, HKDF.derive(from: material, info: "profile request"))
    self.issuer = issuer
  }

  /// A new request.
  func make(
    for requestor: RequestorID, device: DeviceHash, provider: ProviderID, at now: Instant
  ) throws(JWSError) -> String {
    let request = ProfileRequest(
      id: Random.uuid(), issuer: issuer, requestor: requestor, device: Hex.encode(device.bytes), provider: provider,
      issued: now)
    return try JWS.authenticate(request.claims.bytes(), with: key, keyID: nil, type: ProfileRequest.type)
  }

  /// What a request says, when this service made it and its time is not over.
  func read(_ text: String, at now: Instant) -> ProfileRequest? {
    guard let verified = try? UnverifiedJWS(text, longest: ProfileRequest.longest).verified(with: key),
      verified.isType(ProfileRequest.type), let claims = try? verified.claims(),
      let request = ProfileRequest(claims), request.issuer.utf8.elementsEqual(issuer.utf8), now < request.expires
    else { return nil }
    return request
  }

  /// What a box's word says, when that key signed it for this service a moment ago, about a request that this service
  /// made.
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
