package import RegentHTTPCodec
package import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire
internal import RegentCryptography
internal import RegentPlatform

/// Decides the response to a request.
///
/// It runs on an event loop, so it may read only memory.
package typealias V1Work = @Sendable (V1Call) throws(CallError) -> V1Outcome

/// The common part of all endpoints of protocol V1: authentication, requestor, response format and errors.
package struct V1Endpoints: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// Mounts an endpoint of protocol V1 for each of its methods.
  ///
  /// Every path also answers a browser's CORS preflight request.
  package func mount(
    _ routes: inout Routes, _ methods: [Method], _ path: String, takesGrants: Bool = false,
    _ work: @escaping V1Work
  ) {
    for method in methods {
      routes.on(method, path + "[.json|.xml]") { [self] request, captured in
        answer(request, captured, takesGrants, work)
      }
    }
    routes.on(.options, path + "[.json|.xml]") { _, _ in .now(CrossOrigin.preflight(methods)) }
  }

  private func answer(
    _ request: Request, _ path: PathParameters, _ takesGrants: Bool, _ work: @escaping V1Work
  ) -> Answer {
    do throws(CallError) {
      let parameters = try CallParameters(request)
      let format = request.wireFormat(
        suffix: path.suffix, parameter: try parameters.value(Field.format))
      let words = V1Words(
        path: path, parameters: parameters, format: format, isCrossOrigin: request.isCrossOrigin,
        takesGrants: takesGrants, work: work)
      return begin(request, words, like: nil, nil)
    } catch {
      // When the query cannot be read, the format comes from the path's suffix and the `Accept` header.
      let plain = request.wireFormat(suffix: path.suffix, parameter: nil)
      let frame = V1Frame(core: core, format: plain, isCrossOrigin: request.isCrossOrigin)
      return .now(frame.response(error))
    }
  }

  /// Answers a poll that equals an earlier one.
  ///
  /// `claims` are those of the access token that the poll has in common with the earlier one.
  func answer(_ request: Request, like known: RememberedPoll, _ claims: AccessTokens.Claims?) -> Answer {
    begin(request, known.words, like: known, claims)
  }

  private func begin(
    _ request: Request, _ words: V1Words, like known: RememberedPoll?, _ claims: AccessTokens.Claims?
  ) -> Answer {
    var frame = V1Frame(core: core, format: words.format, isCrossOrigin: words.isCrossOrigin)
    do throws(CallError) {
      try core.limits.take(request.clientAddress)
      let now = core.clock.now
      let found =
        if let claims {
          try core.credentials.caller(claims, request, at: now)
        } else if let known, let signed = try core.credentials.caller(of: request, like: known, at: now) {
          signed
        } else {
          try core.credentials.caller(of: request, words.parameters, at: now)
        }
      // Without `consume` the value is copied, which costs measurable time at each poll.
      guard let signed = consume found else { return GrantCalls(core).answer(request, words) }
      let provisioned = core.provisioning.now
      if known?.requestor != signed.caller.requestor { try words.mustName(signed.caller.requestor) }
      guard let requestor = provisioned.requestor(signed.caller.requestor) else { throw .notAuthorized }
      if requestor.enhancedErrors { frame.enhanced = requestor.id }
      let device = if let known { known.device } else { try words.device(core.hasher) }
      let call = V1Call(
        request: request, words, caller: signed.caller, requestor: requestor, provisioned: provisioned, now: now,
        hasher: core.hasher, device: device)
      do throws(CallError) {
        return frame.perform(try limited(call, signed, words.work))
      } catch {
        var response = frame.response(error)
        // The remembered poll stays valid while the same sender polls. If the request was parsed anew, it is remembered
        // for the next poll.
        if known == nil || known?.claims != signed.claims || signed.signer != nil {
          response.remembered = RememberedPoll(request, words, device, signed, after: error)
        }
        return .now(response)
      }
    } catch {
      return .now(frame.response(error))
    }
  }

  private func limited(_ call: V1Call, _ signed: SignedCaller, _ answer: @escaping V1Work)
    throws(CallError) -> V1Outcome
  {
    // The nonce is used up after the rate limits: refused requests must take no room in the replay window.
    func work(_ call: V1Call) throws(CallError) -> V1Outcome {
      try core.credentials.useUp(signed, call.request, at: call.now)
      return core.codeLooks.areNeeded ? try decided(call, answer) : try answer(call)
    }
    guard let subject = call.subject else { return try work(call) }
    guard call.preferredWait ?? 0 > 0 else {
      try core.limits.take(subject, at: call.requestor.id)
      return try work(call)
    }
    // A long poll counts only against its own limit. A request that is answered at once counts against that for
    // ordinary polls as well.
    try core.limits.takeWait(subject, at: call.requestor.id)
    let outcome: V1Outcome
    do throws(CallError) {
      outcome = try work(call)
    } catch {
      try core.limits.take(subject, at: call.requestor.id)
      throw error
    }
    if !outcome.isHeld { try core.limits.take(subject, at: call.requestor.id) }
    return outcome
  }

  /// Decides the response, after reading the code from the store if memory may be outdated.
  private func decided(_ call: V1Call, _ answer: @escaping V1Work) throws(CallError) -> V1Outcome {
    guard let lookup = try core.lookupNeeded(for: call) else { return try answer(call) }
    return .decide { [core] in
      try await core.perform(lookup)
      return try await answer(call).decided()
    }
  }
}

extension V1Words {
  /// Throws if `requestor`, from the path or a parameter, is not the requestor of the credentials.
  func mustName(_ requestor: RequestorID) throws(CallError) {
    try path.requestor?.mustName(requestor)
    try parameters.value(Field.requestor)?.mustName(requestor)
    try parameters.value(Field.requestorID)?.mustName(requestor)
  }

  func device(_ hasher: KeyedHasher) throws(CallError) -> CallDevice? {
    try parameters.value(Field.deviceID).flatMap(DeviceID.init).map { CallDevice(id: $0, hash: hasher.device($0)) }
  }
}

extension Request {
  /// Whether the request has an `Origin` header, which means that a page of another site sent it.
  var isCrossOrigin: Bool { header(.origin) != nil }
}

extension V1Outcome {
  fileprivate var isHeld: Bool { if case .wait = self { true } else { false } }
}

extension String {
  fileprivate func mustName(_ requestor: RequestorID) throws(CallError) {
    guard utf8.elementsEqual(requestor.text.utf8) else {
      throw CallError(
        .badRequest, details: "the credentials belong to another requestor",
        code: .invalidRequestor)
    }
  }
}

extension PathParameters {
  /// The requestor that the path names, on paths that have one.
  fileprivate var requestor: String? { self[ifCaptured: "requestor"] }
}
