package import HTTPCodec
package import HTTPServer
internal import Pairing
package import PairingStore
internal import PairingWire
internal import Cryptography
internal import Platform

/// Decides an answer on an event loop: memory only.
package typealias V1Work = @Sendable (V1Call) throws(CallError) -> V1Outcome

/// The frame around every endpoint of protocol V1: who calls, for whom, in which form the answer goes, and how errors look.
package struct V1Endpoints: Sendable {
  private let core: ServiceCore

  /// Endpoints of a service.
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
    // Until the query is known to be readable, the suffix and Accept alone choose the form.
    let plain = request.wireFormat(suffix: path.suffix, parameter: nil)
    let frame: Frame
    do throws(CallError) {
      let parameters = try CallParameters(request)
      let format = request.wireFormat(
        suffix: path.suffix, parameter: try parameters.value(Field.format))
      frame = Frame(core: core, request: request, format: format, enhanced: nil)
      return try begin(request, path, parameters, frame, work)
    } catch {
      return .now(Frame(core: core, request: request, format: plain, enhanced: nil).response(error))
    }
  }

  private func begin(
    _ request: Request, _ path: PathParameters, _ parameters: CallParameters, _ frame: Frame,
    _ work: V1Work
  ) throws(CallError) -> Answer {
    var frame = frame
    do throws(CallError) {
      try core.limits.take(request.clientAddress)
      let now = core.clock.now
      let caller = try core.credentials.caller(of: request, parameters, at: now)
      let provisioned = core.provisioning.now
      let requestor = try requestor(caller, path, parameters, provisioned)
      frame.enhanced = requestor
      let call = V1Call(
        request: request, path: path, format: frame.format, parameters: parameters, caller: caller,
        requestor: requestor, provisioned: provisioned, now: now, hasher: core.hasher)
      return frame.perform(try limited(call, work))
    } catch {
      return .now(frame.response(error))
    }
  }

  private func limited(_ call: V1Call, _ work: V1Work) throws(CallError) -> V1Outcome {
    guard let subject = try subject(of: call) else { return try work(call) }
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

  /// Whose requests are counted: the device's, on calls by code the code's.
  private func subject(of call: V1Call) throws(CallError) -> RequestLimits.Subject? {
    if let text = try call.parameters.value(Field.deviceID) {
      return DeviceID(text).map { .device(core.hasher.device($0)) }
    }
    return call.pathCode.map { .code(call.hash($0)) }
  }

  /// For whose app a call is: named in the path or a parameter, else by the credentials; never two different ones.
  private func requestor(
    _ caller: Caller, _ path: PathParameters, _ parameters: CallParameters,
    _ provisioned: Provisioned
  ) throws(CallError) -> Requestor {
    let named = [
      path.requestor, try parameters.value(Field.requestor),
      try parameters.value(Field.requestorID),
    ].compactMap(\.self)
    for name in named where !name.utf8.elementsEqual(caller.requestor.text.utf8) {
      throw CallError(
        .badRequest, details: "the requestor is not the one that the credentials are for",
        code: .invalidRequestor)
    }
    guard let requestor = provisioned.requestor(caller.requestor) else { throw .notAuthorized }
    return requestor
  }
}

/// What an answer needs to know of its call, while the rest of the call is gone.
private struct Frame: Sendable {
  let core: ServiceCore
  let format: WireFormat
  /// Whether a browser on another site asks.
  let isCrossOrigin: Bool
  /// Set once the requestor is known.
  var enhanced: Requestor?

  init(core: ServiceCore, request: Request, format: WireFormat, enhanced: Requestor?) {
    self.core = core
    self.format = format
    self.enhanced = enhanced
    isCrossOrigin = request.header(.origin) != nil
  }

  func perform(_ outcome: V1Outcome) -> Answer {
    switch outcome {
    case .reply(let reply): .now(response(reply))
    case .later(let work): .later { reply in complete(reply, work, granted: nil, closes: false) }
    case .wait(let wait): .later { reply in hold(reply, wait) }
    case .decide(let work): .later { reply in decide(reply, work) }
    }
  }

  private func decide(
    _ reply: PendingReply, _ work: @escaping @Sendable () async throws -> V1Outcome
  ) {
    Task {
      do {
        switch try await work() {
        case .reply(let answer): reply.complete(response(answer))
        case .later(let work): complete(reply, work, granted: nil, closes: false)
        case .wait(let wait): hold(reply, wait)
        case .decide: throw CallError(.internalServerError, code: .internalError)
        }
      } catch {
        reply.complete(response(failure: error))
      }
    }
  }

  private func complete(
    _ reply: PendingReply, _ work: @escaping @Sendable () async throws -> V1Reply, granted: Int?,
    closes: Bool
  ) {
    Task {
      var response: Response
      do {
        response = self.response(try await work())
      } catch {
        response = self.response(failure: error)
      }
      response.finish(granted: granted, closes: closes)
      reply.complete(response)
    }
  }

  private func hold(_ reply: PendingReply, _ wait: V1Wait) {
    core.waiters.hold(
      reply, for: wait.registration, .device(wait.place), span: wait.span,
      while: wait.isStill,
      end: { end in answer(reply, wait, closes: end == .stopping) })
  }

  /// The wait is over, for whatever reason: the answer is what it is now.
  private func answer(_ reply: PendingReply, _ wait: V1Wait, closes: Bool) {
    var response: Response
    do throws(CallError) {
      switch try wait.answer() {
      case .reply(let answer): response = self.response(answer)
      case .later(let work):
        return complete(reply, work, granted: wait.granted, closes: closes)
      case .wait, .decide:
        response = self.response(CallError(.internalServerError, code: .internalError))
      }
    } catch {
      response = self.response(error)
    }
    response.finish(granted: wait.granted, closes: closes)
    reply.complete(response)
  }

  private func response(failure error: any Error) -> Response {
    if let error = error as? CallError { return response(error) }
    if let error = error as? StoreError {
      core.log.storeFailed(error)
      return response(CallError(error))
    }
    core.log.error("call-failed", ("reason", "\(error)"))
    return response(CallError(.internalServerError, code: .internalError))
  }

  func response(_ reply: V1Reply) -> Response {
    var response = reply.response
    response.addHeader(.cacheControl, "no-store")
    if isCrossOrigin { CrossOrigin.allow(&response) }
    return response
  }

  /// The one place where an error becomes an answer.
  func response(_ error: CallError) -> Response {
    let document = ErrorDocument(
      status: Int(error.status.rawValue), message: error.message, details: error.details,
      enhancement: enhancement(of: error))
    var response = self.response(V1Reply(error.status, document, format))
    if error.status == .unauthorized {
      // RFC 6750 §3: an error code only for a token that was there.
      let isToken = error.details == CallError.accessDenied.details
      response.addHeader(.wwwAuthenticate, isToken ? "Bearer error=\"invalid_token\"" : "Bearer")
    }
    if let wait = error.retryAfter { response.addRetryAfter(wait) }
    return response
  }

  private func enhancement(of error: CallError) -> ErrorDocument.Enhancement? {
    // A code is documented with its statuses; where an endpoint's own status is another, the generic body says it.
    guard let enhanced, enhanced.enhancedErrors, let code = error.code,
      code.statuses.contains(Int(error.status.rawValue))
    else { return nil }
    let trace = Random.uuid()
    core.log.info(
      "call-error", ("trace", trace), ("code", code.rawValue), ("requestor", enhanced.id.text))
    return ErrorDocument.Enhancement(
      code: code, helpURL: "\(core.options.publicURL)\(Paths.openAPI)", trace: trace)
  }
}

extension V1Outcome {
  fileprivate var isHeld: Bool { if case .wait = self { true } else { false } }
}

extension Response {
  fileprivate mutating func finish(granted: Int?, closes: Bool) {
    if let granted { addHeader(.preferenceApplied, "wait=\(granted)") }
    if closes { closesConnection = true }
  }

  /// Whole seconds, rounded up: sooner would be refused again.
  package mutating func addRetryAfter(_ span: Duration) {
    addHeader(.retryAfter, String(max(1, (span.wholeMilliseconds + 999) / 1000)))
  }
}

extension PathParameters {
  /// The requestor that the path names, on the paths that do.
  fileprivate var requestor: String? { self[ifCaptured: "requestor"] }
}

extension ServiceLog {
  /// The store's own trouble: the caller gets a 503 that names no file.
  package func storeFailed(_ error: StoreError) {
    switch error {
    case .full, .unavailable, .unknownOutcome: self.error("store", ("reason", error.description))
    default: break
    }
  }
}
