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
    let signs = try call.parameters.value(Field.decisions)
    guard signs == nil || signs == "signed" else {
      throw CallError(.badRequest, details: "\(Field.decisions) must be signed")
    }
    return .later { [core] in
      let signIn = try await core.boxSignIn(call, device)
      // A refused key is checked before the rate limit, so that another program with the device id cannot use up the
      // box's.
      if let there = try await core.store.box(of: signIn.authentication.id), there.key != key.spki {
        throw core.refusedKey(call, device)
      }
      try core.limits.takeDecision(of: device.hash, at: call.requestor.id)
      guard let id = BoxID((signs == nil ? "" : BoxRecord.signing) + Random.uuid()) else {
        throw CallError(.internalServerError, code: .internalError)
      }
      let box = try await core.store.enrol(
        BoxRecord(
          id: id, authentication: signIn.authentication.id, key: key.spki, enrolled: core.clock.now,
          rowKey: signIn.record.rowKey),
        at: core.clock.now)
      guard box.key == key.spki else { throw core.refusedKey(call, device) }
      if box.id == id,
        let line = core.audit.strangerEntry(
          .device(call.requestor.id), "platform.enrol", device.hash.shortName, detail: box.id.text,
          at: call.requestor.id,
          from: call.request.clientAddress)
      {
        core.audit.note(line, from: call.request.clientAddress)
      }
      let document: JSONObject = ["box": .string(box.id.text)]
      return V1Reply(response: Response(.ok, type: "application/json", body: document.bytes()))
    }
  }

  // MARK: - Decisions

  private func decide(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.boxDevice()
    let signed = try call.parameters.value(Field.decision)
    let plain = signed == nil ? try ReportedDecision(call) : nil
    return .later { [core] in
      let signIn = try await core.boxSignIn(call, device).record
      let key = try await core.store.box(of: signIn.authentication.id)
      let report: ReportedDecision
      if let signed {
        report = try ReportedDecision(signed, by: key, call, at: core.clock.now)
      } else if let plain, let key, !key.signsDecisions {
        report = plain
      } else {
        throw CallError(.forbidden, details: "the box's key must sign the decision")
      }
      // Counted only now, so that another program with the device id cannot use up the box's limit.
      try core.limits.takeDecision(of: device.hash, at: call.requestor.id)
      try await core.boxDecisions.decide(
        report.record(of: signIn.deviceHash, at: core.clock.now), signed: report.signed,
        audit: report.decision.flatMap { decision in
          core.audit.strangerEntry(
            .device(call.requestor.id), "platform.decide", signIn.deviceHash.shortName,
            detail: "the viewer's decision about app \(report.app) of \(report.requestor): \(decision.rawValue)",
            at: call.requestor.id, from: call.request.clientAddress)
        })
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
}

extension ServiceCore {
  fileprivate func refusedKey(_ call: V1Call, _ device: CallDevice) -> CallError {
    audit.note(
      .device(call.requestor.id), "platform.enrol", device.hash.shortName, .refused,
      detail: "the box's sign-in has another key", once: true)
    return CallError(.forbidden, details: "the box's sign-in has another key: sign the box in again")
  }

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
