internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPairingWire

/// The endpoint at which a new box redeems an enrolment code for its own key pair.
///
/// The box proves that it knows the code, and the response is encrypted so that only the box can read it. A valid proof
/// is accepted whatever other clients at the same address try: 60 bits cannot be guessed, and an attacker in the same
/// house cannot lock the boxes there out. Invalid proofs are counted, and too many get 429. The response to every other
/// failure is the same.
struct EnrolmentRoutes: Sendable {
  private let core: ServiceCore
  /// The key with which a proof for an unknown invitation is compared, so that timing does not reveal which invitations
  /// exist.
  private let decoyKey = CodeKey(secret: Random.secret())

  init(_ core: ServiceCore) { self.core = core }

  func mount(_ routes: inout Routes) {
    routes.post(Paths.enrol) { [core] request, _ in
      do throws(CallError) {
        try core.limits.take(request.clientAddress)
      } catch {
        return .now(Self.refusal(error, core.storeTrouble))
      }
      return .later { reply in
        Task { reply.complete(await answer(request)) }
      }
    }
  }

  private func answer(_ request: Request) async -> Response {
    do throws(CallError) {
      var response = Response(.ok, type: "application/json", body: try await redeem(request).bytes)
      response.addHeader(.cacheControl, "no-store")
      return response
    } catch {
      return Self.refusal(error, core.storeTrouble)
    }
  }

  private func redeem(_ request: Request) async throws(CallError) -> EnrolmentAnswer {
    guard let asked = EnrolmentRequest(request.body) else { throw CallError(.badRequest) }
    let message = EnrolmentRequest.message(id: asked.id, box: asked.box)
    let now = core.clock.now
    var isGuess = true
    do throws(StoreError) {
      let found = try await core.store.enrolment(asked.id, at: now)
      let key = found.flatMap { CodeKey(secret: Secret($0.secret)) } ?? decoyKey
      guard let key, key.isProof(asked.proof, of: message), let found else { throw EnrolmentRecord.missing }
      isGuess = false
      if let there = givenBefore(found, Hex.encode(asked.box)) { return answer(there, key, message) }
      let made = KeyPair.drawn(for: found.requestor, .calls, isBoxes: true, at: now)
      guard let made else { throw .unavailable(reason: "no key could be made") }
      let line = core.audit.entry(
        .service, "box.enrol", made.publicKey.text,
        detail: "\(found.requestor) \(found.id) \(request.clientAddress?.description ?? "local")")
      let pair = try await core.store.redeem(found.id, box: Hex.encode(asked.box), with: made, audit: line, at: now)
      try await core.refreshProvisioning()
      return answer(pair, key, message)
    } catch {
      guard case .notFound = error else {
        core.storeTrouble.note(error)
        throw CallError(error)
      }
      throw refused(asked.id, request, isGuess: isGuess)
    }
  }

  /// The key pair that a box got earlier for the same request.
  ///
  /// An attacker who recorded the box's request may repeat it at any rate. Answering it must neither write to the disk
  /// nor reload the provisioning records.
  private func givenBefore(_ invitation: EnrolmentRecord, _ box: String) -> KeyPair? {
    let pair = invitation.boxes[box].flatMap { core.provisioning.now.records.keyPairs[$0] }
    return pair?.state == .active ? pair : nil
  }

  private func answer(_ pair: KeyPair, _ key: CodeKey, _ message: [UInt8]) -> EnrolmentAnswer {
    let grant = EnrolmentGrant(
      requestor: pair.requestor, publicKey: pair.publicKey,
      secret: String(decoding: pair.secret.bytes, as: UTF8.self), service: core.options.publicURL)
    return EnrolmentAnswer(sealed: key.seal(grant.bytes, answering: message))
  }

  /// Logs a failed enrolment and returns the same error for all failures, or 429 after too many.
  ///
  /// `isGuess` is false for a client that knows the code of an invitation that is used up. It has not guessed, so the
  /// failure is not counted.
  private func refused(_ id: EnrolmentID, _ request: Request, isGuess: Bool) -> CallError {
    let address = request.clientAddress
    var verdict = CallError(
      .forbidden, "The enrolment code is not valid",
      details: "ask for a new one: regentctl requestor invite REQUESTOR")
    if isGuess {
      do throws(CallError) { try core.limits.mayTryEnrolment(from: address) } catch { verdict = error }
      core.limits.wrongEnrolment(from: address)
    }
    core.metrics.count(.callsRefused)
    core.audit.note(
      .service, "box.enrol", address?.description ?? "local", .refused, detail: id.text, once: true, from: address)
    return verdict
  }

  static func refusal(_ error: CallError, _ trouble: StoreTrouble) -> Response {
    let document = ErrorDocument(
      status: Int(error.status.rawValue), message: error.message, details: error.details)
    var response = Response(error.status, body: document.bytes(as: .json))
    response.addHeader(.contentType, WireFormat.json.contentType)
    response.addHeader(.cacheControl, "no-store")
    response.addRetryAfter(error, trouble)
    return response
  }
}
