package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
package import PairingStore
package import RegentPairingWire

/// The endpoints that say whether a device is signed in.
///
/// The device itself asks with its id or its code, and the login page with the code.
package struct AuthenticationRoutes: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  package func mount(_ routes: inout Routes) {
    let endpoints = V1Endpoints(core)
    let platform = PlatformRoutes(core)
    // Both methods are mounted together, so that the CORS preflight response names both.
    endpoints.mount(&routes, [.get, .post], "/api/v1/tokens/authn") { call throws(CallError) in
      call.request.method == .post
        ? try platform.exchange(call) : try ask(call, try call.device(), .authentication)
    }
    endpoints.mount(&routes, [.get], "/api/v1/checkauthn") { call throws(CallError) in
      try ask(call, try call.device(), .check)
    }
    endpoints.mount(&routes, [.get], "/api/v1/checkauthn/{code}", checkByCode)
    endpoints.mount(&routes, [.get], "/api/v1/authenticate/{code}", askByCode)
    endpoints.mount(&routes, [.delete, .get], "/api/v1/logout", takesGrants: true, signOut)
  }

  // MARK: - Polls with a device id

  /// Answers a device that polls: from memory while its newest code is pending, else from the store.
  private func ask(_ call: V1Call, _ device: CallDevice, _ place: Waiters.Resource)
    throws(CallError) -> V1Outcome
  {
    // The parameter is read first, so that an invalid value is refused even where it would have no effect.
    let after = try call.after()
    // This is the most frequent poll: the answer is "not yet", and the client did not ask for a long poll.
    if call.preferredWait == nil, try hasNothingYet(call, device, at: call.now) {
      throw refusal(.pending, place)
    }
    let question = try DeviceQuestion(call, device, place)
    guard let known = core.codes.latest(of: device.hash, at: call.requestor.id, by: question.owner),
      known.hasEarlierSignIn != true,
      case .pending = DeviceAnswer(known.record.flow, at: call.now), openProvider(question) == nil
    else { return .decide { try await decide(call, question, after) } }
    if known.hasEarlierSignIn == false {
      return .wait(try pending(call, question, known.record.id, known.record.flow, after))
    }
    // After a restart the service does not know yet whether the device has an earlier sign-in, so the store is asked. A
    // device that asked for a long poll may still get one.
    return .decide { try await decide(call, question, after) }
  }

  /// Reads the device's sign-in from the store and answers the device.
  ///
  /// If the device has no sign-in and its code is pending, it may get a long poll.
  private func decide(_ call: V1Call, _ question: DeviceQuestion, _ after: Int?) async throws -> V1Decision {
    if let reply = try await foundAfterLook(question) { return .reply(reply) }
    guard let known = core.codes.latest(of: question.device.hash, at: question.requestor, by: question.owner),
      case .pending = DeviceAnswer(known.record.flow, at: core.clock.now)
    else { throw refusal(ofLatest: question) }
    return .wait(try pending(call, question, known.record.id, known.record.flow, after))
  }

  /// Whether the codes in memory suffice to answer that the device has no sign-in.
  private func hasNothingYet(_ call: V1Call, _ device: CallDevice, at now: Instant)
    throws(CallError) -> Bool
  {
    guard core.codes.waits(device.hash, at: call.requestor.id, by: call.owner, now) else { return false }
    return try core.openProvider(call, device.hash) == nil
  }

  private func hasNothingYet(_ question: DeviceQuestion, at now: Instant) -> Bool {
    core.codes.waits(question.device.hash, at: question.requestor, by: question.owner, now)
      && openProvider(question) == nil
  }

  private func openProvider(_ question: DeviceQuestion) -> ProvisioningSnapshot.Choice? {
    core.openProvider(named: question.named, question.device.hash, by: question.owner, at: question.requestor)
  }

  /// Throws "pending", or returns the terms of a long poll when the client sent `Prefer: wait`.
  ///
  /// The function takes the id and flow instead of the whole record, because copying a record retains each of its
  /// texts.
  private func pending(
    _ call: V1Call, _ question: DeviceQuestion, _ id: RegistrationID, _ flow: PairingFlow, _ after: Int?,
    by caller: Waiters.Caller = .owner
  ) throws(CallError) -> V1Wait {
    guard let wait = call.waitPlan(after: after, flow) else { throw refusal(.pending, question.place) }
    // Only what is needed later is kept during the long poll, so that the memory of the rest of the request is freed.
    let question = try question.held(for: id)
    let (sequence, countsSteps) = (wait.sequence, after != nil)
    return V1Wait(
      subject: .code(id), place: .device(question.place, caller), from: SourceKey(call.request.clientAddress),
      span: wait.span, granted: wait.granted,
      // The answer is yes, no or "not yet". When a phone has only opened the page, the answer stays "not yet", so the
      // long poll continues, unless the client wants to hear of each step.
      while: { [core] in
        guard let known = core.codes.cached(id), known.hasEarlierSignIn != true else {
          return false
        }
        let flow = known.record.flow
        return countsSteps ? flow.sequence == sequence : flow.state.isPending
      },
      answer: { signIn throws(CallError) in
        if let signIn, question.owner.owns(signIn.about), core.signInTransitions.handOver(signIn, of: id) {
          return .reply(reply(signIn, to: question))
        }
        // The code is still pending, so this answer needs no read from the store either.
        if hasNothingYet(question, at: core.clock.now) { throw refusal(.pending, question.place) }
        return .later { try await read(question) }
      })
  }

  /// Looks up the device's sign-in, and looks it up again if its code was approved in the meantime.
  private func foundAfterLook(_ question: DeviceQuestion) async throws -> V1Reply? {
    let signIns = core.codes.signIns
    if let reply = try await found(question) { return reply }
    let isLearned = try await core.codeLooks.look(
      at: question.device.hash, of: question.requestor, by: question.owner)
    let code = core.codes.latest(of: question.device.hash, at: question.requestor, by: question.owner)
    if isLearned, code?.record.flow.state.isPending == true {
      // The store has said that the device is not signed in. That could not be noted earlier, because memory had no
      // code of this device. Note it now, so that the next poll need not ask the store.
      core.signInTransitions.noteNone(
        of: code?.record.deviceHash ?? question.device.hash, at: question.requestor, asOf: signIns)
    }
    return code?.record.flow.state.status == .approved ? try await found(question) : nil
  }

  /// Returns the device's sign-in, or signs it in when the provider is in degradation (out of order, so that every
  /// viewer is signed in).
  private func found(_ question: DeviceQuestion) async throws -> V1Reply? {
    let pickUp: PickUp
    do throws(StoreError) {
      pickUp = try await core.signInTransitions.pickUp(question.device.hash, at: question.requestor, of: question.owner)
    } catch {
      guard case .notInForce(let refusal) = error else { throw error }
      throw notInForce(refusal, question.place)
    }
    if let signIn = pickUp.signIn { return reply(signIn.record, to: question) }
    if let open = openProvider(question) {
      let signIn = try await core.signIn(try question.newcomer(core.codes), at: open, .degraded)
      return reply(signIn.record, to: question)
    }
    if case .expired = pickUp { throw notInForce(.expired, question.place) }
    return nil
  }

  private func reply(_ signIn: AuthenticationRecord, to question: DeviceQuestion) -> V1Reply {
    core.reply(signIn, question.format)
  }

  private func read(_ question: DeviceQuestion) async throws -> V1Reply {
    if let reply = try await foundAfterLook(question) { return reply }
    throw refusal(ofLatest: question)
  }

  /// The error for a device without a sign-in.
  ///
  /// While the service remembers the device's last code, the error says how that code ended. After that, it is "not
  /// found".
  private func refusal(ofLatest question: DeviceQuestion) -> CallError {
    let record = core.codes.latest(of: question.device.hash, at: question.requestor, by: question.owner)?.record
    return refusal(record.map { DeviceAnswer($0.flow, at: core.clock.now) } ?? .unknown, question.place)
  }

  private func notInForce(_ refusal: AuthenticationRefusal, _ place: Waiters.Resource) -> CallError {
    place == .check ? CallError(refusal).asCheck : CallError(refusal)
  }

  private func refusal(_ answer: DeviceAnswer, _ place: Waiters.Resource) -> CallError {
    let error =
      switch answer {
      case .denied: CallError.denied
      case .expired: CallError.expired
      case .pending, .unknown, .approved: CallError.unknownCode
      }
    return place == .check ? error.asCheck : error
  }

  // MARK: - Polls with a code

  /// Says whether a code's device is signed in, to a client that sends the code instead of the device id.
  private func askByCode(_ call: V1Call) throws(CallError) -> V1Outcome {
    guard let (_, record) = try core.triedCode(call) else { throw .unknownCode }
    let after = try call.after()
    let question = try DeviceQuestion(
      call, CallDevice(id: record.device, hash: record.deviceHash), .poll)
    switch DeviceAnswer(record.flow, at: call.now) {
    case .pending:
      return .wait(
        try pending(call, question, record.id, record.flow, after, by: call.side(of: record)))
    case .approved: return .later { try await read(question) }
    case .denied, .expired, .unknown:
      throw refusal(DeviceAnswer(record.flow, at: call.now), .poll)
    }
  }

  /// Says whether a code's device is signed in, to the login page, before the page tells the viewer to go back to the
  /// screen.
  ///
  /// Such a check does not mark the code as delivered.
  private func checkByCode(_ call: V1Call) throws(CallError) -> V1Outcome {
    guard let (_, record) = try core.triedCode(call) else { throw CallError.unknownCode.asCheck }
    guard case .approved(let approval) = DeviceAnswer(record.flow, at: call.now) else {
      throw refusal(DeviceAnswer(record.flow, at: call.now), .check)
    }
    return .later { [core] in
      do throws(StoreError) {
        guard let viewer = try await core.signedIn(by: approval, record) else {
          throw StoreError.notFound(what: "authentication")
        }
        return call.reply(core.document(viewer.record))
      } catch {
        switch error {
        case .notInForce(let refusal): throw CallError(refusal).asCheck
        case .notFound: throw CallError.unknownCode.asCheck
        default: throw error
        }
      }
    }
  }

  // MARK: - Sign-out

  private func signOut(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    return .later { [core] in
      let ended = try await core.signInTransitions.signOut(device.hash, at: call.requestor.id, of: call.owner)
      var reply = V1Reply.noContent
      if let viewer = ended.first?.authentication.viewer {
        let ticket = core.logoutTickets.ticket(for: viewer, of: call.requestor.id, at: core.clock.now)
        reply.response.addHeader(HeaderName(known: PairingHeader.logoutTicket), ticket)
      }
      return reply
    }
  }
}

extension CallError {
  /// This error in the form of `checkauthn`, which uses one status for every refusal.
  fileprivate var asCheck: CallError {
    let isExpired = status == .gone && message == ErrorMessage.authenticationExpired
    return CallError(
      .forbidden, isExpired ? ErrorMessage.authenticationExpired : nil, details: details,
      code: isExpired ? .authenticationSessionExpired : .authenticationSessionMissing)
  }
}

extension ServiceCore {
  /// The response that gives a device its sign-in.
  func reply(_ signIn: AuthenticationRecord, _ format: WireFormat) -> V1Reply {
    var reply = V1Reply(.ok, document(signIn), format)
    // The document marks a sign-in that came from the box's account. An app that has lost its data would otherwise take
    // it for a sign-in of its own, and never tell the viewer that the sign-in ends with the box's sign-in.
    if signIn.authentication.source == .platform {
      reply.response.addHeader(HeaderName(known: PairingHeader.decisionSource), PairingHeader.platformSource)
    }
    return reply
  }

  /// The document about a sign-in, as its device gets it.
  package func document(_ record: AuthenticationRecord) -> AuthenticationDocument {
    AuthenticationDocument(
      requestor: record.authentication.requestor.text,
      provider: record.authentication.viewer.provider.text, userID: userID(of: record),
      expires: record.authentication.expires)
  }

  /// The viewer's id for the apps of one requestor.
  ///
  /// It has a prefix for guests, and for sign-ins that a provider gave while it was out of order (degradation).
  package func userID(of record: AuthenticationRecord) -> String {
    let plain = hasher.userID(
      of: record.authentication.viewer, device: record.deviceHash,
      at: record.authentication.requestor)
    return switch record.authentication.source {
    case .regular, .platform: plain
    case .temporary: "temppass_\(plain)"
    case .degraded: "degraded_\(plain)"
    }
  }
}
