package import RegentHTTPCodec
package import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire
internal import RegentCryptography
internal import RegentPlatform

/// Decides an answer on an event loop: memory only.
package typealias V1Work = @Sendable (V1Call) throws(CallError) -> V1Outcome

/// The frame around every endpoint of protocol V1: who calls, for whom, in which form the answer goes, and how errors
/// look.
package struct V1Endpoints: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// Mounts an endpoint under each of its methods; every path also answers a preflight request of a browser.
  package func mount(
    _ routes: inout Routes, _ methods: [Method], _ path: String, _ work: @escaping V1Work
  ) {
    for method in methods {
      routes.on(method, path + "[.json|.xml]") { [self] request, captured in
        answer(request, captured, work)
      }
    }
    routes.on(.options, path + "[.json|.xml]") { _, _ in .now(CrossOrigin.preflight(methods)) }
  }

  private func answer(_ request: Request, _ path: PathParameters, _ work: V1Work) -> Answer {
    do throws(CallError) {
      let parameters = try CallParameters(request)
      let format = request.wireFormat(
        suffix: path.suffix, parameter: try parameters.value(Field.format))
      return begin(
        request, path, parameters, V1Frame(core: core, request: request, format: format), work)
    } catch {
      // While the query is not readable, the suffix and Accept alone choose the form.
      let plain = request.wireFormat(suffix: path.suffix, parameter: nil)
      return .now(V1Frame(core: core, request: request, format: plain).response(error))
    }
  }

  private func begin(
    _ request: Request, _ path: PathParameters, _ parameters: CallParameters, _ frame: V1Frame,
    _ work: V1Work
  ) -> Answer {
    var frame = frame
    do throws(CallError) {
      try core.limits.take(request.clientAddress)
      let now = core.clock.now
      let signed = try core.credentials.caller(of: request, parameters, at: now)
      let caller = signed.caller
      let provisioned = core.provisioning.now
      let requestor = try requestor(caller, path, parameters, provisioned)
      if requestor.enhancedErrors { frame.enhanced = requestor.id }
      let call = try V1Call(
        request: request, path: path, format: frame.format, parameters: parameters, caller: caller,
        requestor: requestor, provisioned: provisioned, now: now, hasher: core.hasher)
      return frame.perform(try limited(call, signed, work))
    } catch {
      return .now(frame.response(error))
    }
  }

  private func limited(_ call: V1Call, _ signed: SignedCaller, _ answer: V1Work)
    throws(CallError) -> V1Outcome
  {
    // After the limits: what they turn away must take no room among the nonces.
    func work(_ call: V1Call) throws(CallError) -> V1Outcome {
      try core.credentials.useUp(signed, call.request, at: call.now)
      return try answer(call)
    }
    guard let subject = call.subject else { return try work(call) }
    guard call.request.preferredWait ?? 0 > 0 else {
      try core.limits.take(subject, at: call.requestor.id)
      return try work(call)
    }
    // A wait that is held costs nothing while it lasts; one that is answered at once is an ordinary poll.
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

  /// For whose app a call is: named in the path or a parameter, else by the credentials; never two different ones.
  private func requestor(
    _ caller: Caller, _ path: PathParameters, _ parameters: CallParameters,
    _ provisioned: ProvisioningSnapshot
  ) throws(CallError) -> Requestor {
    try path.requestor?.mustName(caller.requestor)
    try parameters.value(Field.requestor)?.mustName(caller.requestor)
    try parameters.value(Field.requestorID)?.mustName(caller.requestor)
    guard let requestor = provisioned.requestor(caller.requestor) else { throw .notAuthorized }
    return requestor
  }
}

extension V1Outcome {
  fileprivate var isHeld: Bool { if case .wait = self { true } else { false } }
}

extension String {
  fileprivate func mustName(_ requestor: RequestorID) throws(CallError) {
    guard utf8.elementsEqual(requestor.text.utf8) else {
      throw CallError(
        .badRequest, details: "the requestor is not the one that the credentials are for",
        code: .invalidRequestor)
    }
  }
}

extension PathParameters {
  /// The requestor that the path names, on the paths that do.
  fileprivate var requestor: String? { self[ifCaptured: "requestor"] }
}
