internal import HTTPServer
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

// The endpoints for a box itself, as opposed to its apps.

extension PlatformRoutes {
  func mountBox(_ endpoints: V1Endpoints, _ routes: inout Routes) {
    endpoints.mount(&routes, [.post], Paths.platformKey, enrol)
    endpoints.mount(&routes, [.post], Paths.platformPermission, decide)
    endpoints.mount(&routes, [.get], Paths.platformPermissions, decisions)
  }

  private func enrol(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.boxDevice()
    let text = try call.parameters.required(Field.publicKey)
    guard text.utf8.count <= 256, let spki = try? Base64.decode(text), let key = try? VerifyingKey(spki: spki),
      key.algorithm == .edDSA
    else {
      throw CallError(
        .badRequest, details: "\(Field.publicKey) must be an Ed25519 key, its SubjectPublicKeyInfo in base64")
    }
    try core.limits.takeDecision(of: device.hash, at: call.requestor.id)
    return .later { [core] in
      let signIn = try await core.boxSignIn(call, device)
      guard let id = BoxID(Random.uuid()) else { throw CallError(.internalServerError, code: .internalError) }
      try await core.store.enrol(
        BoxRecord(
          id: id, authentication: signIn.authentication.id, key: key.spki, enrolled: core.clock.now,
          rowKey: signIn.record.rowKey),
        at: core.clock.now)
      if let line = core.audit.strangerEntry(
        .device(call.requestor.id), "platform.enrol", device.hash.shortName, detail: id.text, at: call.requestor.id,
        from: call.request.clientAddress)
      {
        core.audit.note(line, from: call.request.clientAddress)
      }
      let document: JSONObject = ["box": .string(id.text)]
      return V1Reply(response: Response(.ok, type: "application/json", body: document.bytes()))
    }
  }

  // MARK: - Decisions

  private func decide(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.boxDevice()
    let app = try call.parameters.required(Field.app)
    let name = try call.parameters.required(Field.appRequestor)
    let word = try call.parameters.required(Field.permission)
    guard PlatformApp.isName(app) else {
      throw CallError(.badRequest, details: "\(Field.app) must be the name of an app of the box")
    }
    guard let requestor = RequestorID(name), call.provisioned.requestor(requestor) != nil else {
      throw CallError(.badRequest, details: "\(Field.appRequestor) must be a requestor of this service")
    }
    guard let decision = AppDecision(rawValue: word) ?? (word == "asked" ? .undetermined : nil) else {
      throw CallError(.badRequest, details: "\(Field.permission) must be granted, denied, undetermined or asked")
    }
    let age = try call.age()
    try core.limits.takeDecision(of: device.hash, at: call.requestor.id)
    return .later { [core] in
      let box = try await core.boxSignIn(call, device).record.deviceHash
      let now = core.clock.now
      if word == "asked" {
        let question = PlatformPermissionRecord(
          device: box, app: app, requestor: requestor, isGranted: nil,
          decided: PlatformPermissionRecord.neverDecided)
        try await core.boxDecisions.decide(question, audit: nil)
        return .noContent
      }
      // The decision's time must be after `neverDecided`, the time of an app's question; otherwise the decision would
      // not replace the question.
      let decided = max(now - age, PlatformPermissionRecord.neverDecided + .milliseconds(1))
      try await core.boxDecisions.decide(
        PlatformPermissionRecord(
          device: box, app: app, requestor: requestor, isGranted: decision.isGranted, decided: decided),
        audit: core.audit.strangerEntry(
          .device(call.requestor.id), "platform.decide", box.shortName,
          detail: "the viewer's decision about app \(app) of \(requestor): \(decision.rawValue)", at: call.requestor.id,
          from: call.request.clientAddress))
      return .noContent
    }
  }

  /// Returns the viewer's decisions about the box's apps, made on the box or on the phone.
  ///
  /// The response is held as a long poll while the box already has the current list.
  private func decisions(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.boxDevice()
    let tags = Array(call.request.headers(.ifNoneMatch))
    let seconds = call.preferredWait ?? 0
    return .decide { [core] in
      let signIn = try await core.boxSignIn(call, device)
      let (hash, seen) = (signIn.record.deviceHash, core.boxDecisions.changeCount)
      let list = try await core.decisionList(of: hash, signIn)
      guard seconds > 0, list.isNamed(in: tags) else { return .reply(list.reply(to: tags)) }
      let granted = WaitPlan.granted(seconds)
      return .wait(
        V1Wait(
          subject: .box(hash), place: .device(.decisions, .owner), from: SourceKey(call.request.clientAddress),
          span: .seconds(granted), granted: granted,
          while: { core.boxDecisions.changeCount == seen },
          answer: { _ in
            .later {
              // The sign-in is checked again, because its end may have ended the long poll.
              let signIn = try await core.boxSignIn(call, device)
              return try await core.decisionList(of: hash, signIn).reply(to: tags)
            }
          }))
    }
  }
}

/// The viewer's decisions about a box's apps as a document, with its entity tag.
private struct DecisionList {
  let body: [UInt8]
  let tag: String

  /// `refusal` names the setting that excludes a requestor's apps from the box's account.
  init(_ records: [PlatformPermissionRecord], refusal: (RequestorID) -> ExchangeRefusal?) {
    let entries = records.filter { $0.decided > PlatformPermissionRecord.neverDecided }.map { record -> JSONValue in
      var entry: JSONObject = [
        "app": .string(record.app), "requestor": .string(record.requestor.text),
        "permission": .string(AppDecision(record.isGranted).rawValue),
        "decided": .integer(record.decided.milliseconds),
      ]
      if let refusal = refusal(record.requestor) { entry["refusal"] = .string(refusal.rawValue) }
      return .object(entry)
    }
    let document: JSONObject = ["permissions": .array(entries)]
    body = document.bytes()
    tag = EntityTag.of(body)
  }

  func isNamed(in tags: [String]) -> Bool { EntityTag.isNamed(tag, in: tags) }

  func reply(to tags: [String]) -> V1Reply {
    var response =
      isNamed(in: tags) ? Response(.notModified) : Response(.ok, type: "application/json", body: body)
    response.addHeader(.etag, tag)
    return V1Reply(response: response)
  }
}

extension V1Call {
  /// The box that sent the request; throws unless the requestor is a box maker's.
  fileprivate func boxDevice() throws(CallError) -> CallDevice {
    guard requestor.isPlatform else {
      throw CallError(
        .forbidden,
        details:
          "the requestor is not a box maker: the operator can run regentctl requestor set \(requestor.id) --platform on"
      )
    }
    return try device()
  }

  /// How long ago the viewer decided, as the box states it.
  ///
  /// A box that was offline reports a decision later. It sends an age and not a time, so its clock need not be right.
  fileprivate func age() throws(CallError) -> Duration {
    guard let text = try parameters.value(Field.decisionAge) else { return .zero }
    guard let age = Int64(text), age >= 0, age < 1 << 53 else {
      throw CallError(.badRequest, details: "\(Field.decisionAge) must be a number of milliseconds")
    }
    return .milliseconds(age)
  }
}

extension ServiceCore {
  fileprivate func decisionList(of device: DeviceHash, _ signIn: ValidSignIn) async throws(StoreError) -> DecisionList {
    DecisionList(try await store.decisions(of: device)) { exchangeRefusal(signIn.provider.id, for: $0) }
  }

  /// The box's own valid sign-in, which must have been made with an account.
  fileprivate func boxSignIn(_ call: V1Call, _ device: CallDevice) async throws -> ValidSignIn {
    let viewer = try await signedIn(call, device, for: .toRead)
    guard viewer.authentication.source == .regular, viewer.authentication.viewer.account != nil else {
      throw CallError(
        .forbidden,
        details: "a box needs a regular sign-in: a temporary pass or a provider that is out of order does not suffice")
    }
    return viewer.signIn
  }
}
