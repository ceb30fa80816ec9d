package import HTTPServer
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The endpoints that say which of several resources may be watched, so that apps can mark them in lists.
///
/// The device itself may ask, and so may the second screen (a phone or another browser). Nothing is stored, and the
/// result is no permit.
package struct PreauthorizationRoutes: Sendable {
  private let core: ServiceCore
  private let endpoints: V1Endpoints

  package init(_ core: ServiceCore) {
    self.core = core
    endpoints = V1Endpoints(core)
  }

  package func mount(_ routes: inout Routes) {
    endpoints.mount(&routes, [.get], "/api/v1/preauthorize", takesGrants: true) { call throws(CallError) in
      let device = try call.device()
      let list = try call.resourceList()
      return .later { [core] in
        try await answer(
          call, list, try await core.signedIn(call, device, for: .toPreauthorize))
      }
    }
    endpoints.mount(&routes, [.get], "/api/v1/preauthorize/{code}", byCode)
  }

  /// Answers the second screen (a phone or another browser), which names the approved code of the device.
  private func byCode(_ call: V1Call) throws(CallError) -> V1Outcome {
    let list = try call.resourceList()
    guard let (_, record) = try core.triedCode(call) else { throw .unknownCode }
    switch DeviceAnswer(record.flow, at: call.now) {
    case .approved(let approval):
      return .later {
        try await answer(call, list, try await signedIn(by: approval, record))
      }
    case .pending: throw SignInNeed.toPreauthorize.missing
    case .denied: throw .denied
    case .expired: throw .expired
    case .unknown: throw .unknownCode
    }
  }

  private func signedIn(by approval: Approval, _ record: RegistrationRecord) async throws
    -> SignedInDevice
  {
    do throws(StoreError) {
      guard let viewer = try await core.signedIn(by: approval, record) else {
        throw StoreError.notFound(what: "authentication")
      }
      return viewer
    } catch {
      core.storeTrouble.note(error)
      throw CallError(error, while: .toPreauthorize)
    }
  }

  // MARK: - The response

  private func answer(_ call: V1Call, _ list: [String], _ viewer: SignedInDevice) async throws
    -> V1Reply
  {
    let asked = try request(list, viewer)
    let use = try await used(viewer)
    let trace = Random.uuid()
    let answers = asked.resources.map { id in
      let denial = denial(of: id, viewer, use)
      return PreauthorizationDocument.Resource(
        id: id.text, isAuthorized: denial == nil,
        error: denial.flatMap { document($0, call, trace) })
    }
    if answers.contains(where: { $0.error != nil }) {
      core.log.info(
        "preauthorize-denied", ("trace", trace), ("requestor", call.requestor.id.text),
        ("denied", String(answers.count { $0.error != nil })))
    }
    var reply = call.reply(PreauthorizationDocument(resources: answers))
    reply.response.addHeader(HeaderName(known: PairingHeader.requestID), trace)
    reply.response.addHeader(HeaderName(known: PairingHeader.responseConfidence), "full")
    return reply
  }

  private func request(_ names: [String], _ viewer: SignedInDevice) throws(CallError)
    -> PreauthorizationRequest
  {
    do throws(PreauthorizationRefusal) {
      return try PreauthorizationRequest(names: names, limit: viewer.settings.preauthorizationLimit)
    } catch {
      switch error {
      case .missing: throw .missing(Field.resource, code: .missingResource)
      case .tooMany(let limit):
        throw CallError(
          .forbidden, details: "at most \(limit) resources at once", code: .tooManyResources)
      case .unreadable:
        throw CallError(
          .badRequest, details: "\(Field.resource) must be names of at most 8192 bytes",
          code: .malformedAuthorizationRequest)
      }
    }
  }

  /// What was used of a temporary pass that counts titles; nil for other sign-ins.
  private func used(_ viewer: SignedInDevice) async throws(StoreError) -> TemporaryPassUse? {
    guard let pass = viewer.pass, pass.resourceLimit != nil else { return nil }
    return try await core.passUse(of: viewer)
  }

  /// Why a resource may not be watched; nil when it may be.
  private func denial(of id: ResourceID, _ viewer: SignedInDevice, _ use: TemporaryPassUse?)
    -> CallError?
  {
    let resource: RequestedResource
    do throws(MediaRSSError) {
      resource = try RequestedResource(reading: id)
    } catch {
      return CallError(malformed: error)
    }
    do throws(AuthorizationDenial) {
      try viewer.decide(resource)
    } catch {
      var denial = CallError(error)
      if denial.code == .authorizationDeniedByProvider {
        denial.code = .preauthorizationDeniedByProvider
      }
      return denial
    }
    guard let use, let pass = viewer.pass else { return nil }
    do throws(TemporaryPassRefusal) {
      _ = try pass.opening(id.stored, use, at: core.clock.now)
      return nil
    } catch {
      return CallError(watching: error)
    }
  }

  private func document(_ denial: CallError, _ call: V1Call, _ trace: String) -> ErrorDocument? {
    guard call.requestor.enhancedErrors, let code = denial.code else { return nil }
    return ErrorDocument(
      status: Int(denial.status.rawValue), message: denial.message, details: denial.details,
      enhancement: ErrorDocument.Enhancement(
        code: code, helpURL: core.options.helpURL, trace: trace))
  }
}

extension V1Call {
  /// The names of the resources in the request.
  ///
  /// A parameter that is sent once holds a list with commas. A parameter that is sent several times holds one name each
  /// time.
  fileprivate func resourceList() throws(CallError) -> [String] {
    let names = try parameters.values(Field.resource)
    guard names.contains(where: { !$0.isEmpty }) else {
      throw .missing(Field.resource, code: .missingResource)
    }
    return names
  }
}
