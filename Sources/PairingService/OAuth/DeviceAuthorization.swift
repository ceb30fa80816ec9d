internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentOAuth
internal import RegentPairing
internal import RegentPairingWire

/// The device code that a client gets together with its registration code (RFC 8628 §3.2).
///
/// It consists of the registration's id, by which the registration is found, and 256 random bits. The whole text also
/// serves as the id of the client's device.
struct DeviceCode {
  let registration: RegistrationID
  let device: DeviceID

  init?(at now: Instant) {
    self.init("\(Random.uuid(near: now.milliseconds))_\(Random.token())")
  }

  /// Parses a device code that a client sent.
  init?(_ text: String) {
    let bytes = text.utf8
    guard bytes.count > 44 else { return nil }
    let end = bytes.index(bytes.endIndex, offsetBy: -44)
    guard bytes[end] == UInt8(ascii: "_"), let registration = RegistrationID(String(Substring(bytes[..<end]))),
      let device = DeviceID(text)
    else { return nil }
    self.registration = registration
    self.device = device
  }

  /// The form in which a device id is shown on the admin socket.
  ///
  /// With a device's id and the key pair of its app, anyone can act as the device. Only the role `owner`, which can
  /// make key pairs, therefore sees it; the others see the short name, which each command takes as well. Of a device
  /// code, only the half that is not secret is shown, because the whole code could be redeemed.
  static func shownID(of device: DeviceID, _ hash: DeviceHash, _ about: DeviceDescription, to role: AdminRole) -> String
  {
    guard about.asked != nil else { return role == .owner ? device.text : hash.shortName }
    return DeviceCode(device.text)?.registration.text ?? ""
  }
}

/// The device authorization endpoint.
///
/// Its user code is the registration code of protocol V1.
struct DeviceAuthorization: Sendable {
  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  func mount(_ routes: inout Routes) {
    OAuthFrame(core).mount(&routes, .deviceAuthorization, answer)
  }

  @Sendable private func answer(_ call: OAuthCall) async throws -> Response {
    let client = try await core.client(try call.shown(), call.request)
    let scope = try Scope.granted(call.parameters["scope"], of: client.metadata.scope)
    let challenge = try CodeChallenge.read(call.parameters)
    let proof = try core.proof(call)
    guard let requestor = core.provisioning.now.requestor(client.record.requestor),
      let rowKey = core.provisioning.now.rowKey(of: requestor.id)
    else { throw OAuthError(.unauthorizedClient, "the requestor of this client was removed") }
    guard !requestor.numberMatching else {
      throw OAuthError(
        .unauthorizedClient, "the requestor of this client uses number matching, which OAuth clients do not support")
    }
    try core.limits.take(.code, from: call.request.clientAddress, at: requestor.id)
    let asker = DPoPReplay.Owner.asker(SourceKey(call.request.clientAddress))
    if let proof { try core.oauth.proofs.look(proof, of: asker, core.clock) }
    let asked = AskedByClient(
      client: client.record.id, scope: scope.text, challenge: challenge?.text, thumbprint: proof?.thumbprint,
      secret: client.record.secret,
      // When there is no room for the keys, the text is empty, and each poll asks the store. A code thus never takes
      // more memory than intended.
      keys: core.codes.hasRoomForDescriptions ? client.metadata.keyText : client.metadata.keyText.map { _ in "" },
      isSelfNamed: client.record.origin.isSelfNamed, isOperators: client.record.origin == .operator)
    let (code, record) = try await reserve(requestor.id, rowKey, about(call, client, asked))
    // A DPoP proof is remembered only when a code was issued for it. Public clients need no secret, so an attacker who
    // can be one could otherwise fill the memory for proofs.
    if let proof { try core.oauth.proofs.take(proof, of: asker, core.clock) }
    let link = VerificationLink(
      publicURL: core.options.publicURL, code: code, secret: core.hasher.linkSecret(code))
    let answer = DeviceAuthorizationAnswer(
      deviceCode: record.device.text, userCode: code.display, verificationURI: link.url,
      verificationURIComplete: link.complete, lifetime: Int64(CodeLifetime.usual.seconds),
      interval: PollPace.interval.components.seconds)
    return OAuthFrame.response(.ok, answer.json)
  }

  private func about(_ call: OAuthCall, _ client: AuthenticatedClient, _ asked: AskedByClient) -> DeviceDescription {
    let agent = call.request.header(.userAgent).flatMap { CleanText.line($0) }
    return DeviceDescription(
      name: client.record.name, userAgent: core.codes.hasRoomForDescriptions ? agent : nil,
      address: call.request.clientAddress?.description, asked: asked)
  }

  /// Reserves a registration code in the same way as protocol V1.
  private func reserve(
    _ requestor: RequestorID, _ rowKey: PublicKey, _ about: DeviceDescription
  ) async throws(StoreError) -> (RegistrationCode, RegistrationRecord) {
    try await core.offerDrawn(at: requestor) { [core] code throws(StoreError) in
      let now = core.clock.now
      guard let device = DeviceCode(at: now) else { throw .unavailable(reason: "no id could be drawn") }
      return RegistrationRecord(
        id: device.registration, code: code, requestor: requestor, device: device.device,
        deviceHash: core.hasher.deviceCode(device.device), rowKey: rowKey, preselected: nil, profile: nil, about: about,
        flow: PairingFlow(issued: now, lifetime: .usual, match: nil))
    }
  }
}
