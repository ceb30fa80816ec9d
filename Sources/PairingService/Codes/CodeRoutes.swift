package import HTTPServer
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// The endpoints for registration codes: create, read and withdraw.
package struct CodeRoutes: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  package func mount(_ routes: inout Routes) {
    let endpoints = V1Endpoints(core)
    endpoints.mount(&routes, [.post], "/reggie/v1/{requestor}/regcode", create)
    // Both methods are mounted together, so that the CORS preflight response names both.
    endpoints.mount(&routes, [.get, .delete], "/reggie/v1/{requestor}/regcode/{code}") {
      call throws(CallError) in
      call.request.method == .delete ? try remove(call) : try read(call)
    }
  }

  // MARK: - Creating codes

  private func create(_ call: V1Call) throws(CallError) -> V1Outcome {
    let device = try call.device()
    guard let rowKey = call.provisioned.rowKey(of: call.requestor.id) else {
      core.log.error("no-row-key", ("requestor", call.requestor.id.text))
      throw CallError(.internalServerError, code: .internalError)
    }
    let offer = CodeRequest(
      device: device, rowKey: rowKey, lifetime: try call.lifetime(),
      preselected: try call.preselected(), profile: try call.profile(),
      about: try about(call), matchesNumber: try call.wantsNumberMatching())
    try takeRoom(for: device, call)
    return .later { [core] in
      let (code, record) = try await core.offerDrawn(at: call.requestor.id) { code throws(StoreError) in
        try offer.record(code: code, requestor: call.requestor.id, at: call.now)
      }
      let reader = CodeReader(call, isOwner: call.isOwner(of: record))
      return V1Reply(.created, reader.document(record, code, core, at: call.now), call.format)
    }
  }

  /// What the device reports about itself, to store with its code.
  ///
  /// When the memory for these texts is used up, for example by an attacker who invents devices, only the necessary
  /// part is stored.
  private func about(_ call: V1Call) throws(CallError) -> DeviceDescription {
    var about = try call.deviceDescription()
    about.data = try call.signInData()
    guard !core.codes.hasRoomForDescriptions else { return about }
    // The device's name is still stored, because the viewer compares it with the screen.
    return DeviceDescription(name: about.name, address: about.address, owner: about.owner)
  }

  /// Counts a new code against the rate limit of the client's address, and the replacement of a code against that of
  /// the device.
  ///
  /// A device that replaces its code adds a row but no pending code, so its address may have ten times as many
  /// replacements.
  private func takeRoom(for device: CallDevice, _ call: V1Call) throws(CallError) {
    let requestor = call.requestor.id
    let earlier = core.codes.latest(of: device.hash, at: requestor, by: call.owner)?.record.flow
    let replaces = earlier?.settled(at: call.now).state.isPending ?? false
    try core.limits.take(
      replaces ? .replacement : .code, from: call.request.clientAddress, at: requestor)
    if replaces { try core.limits.takeReplacement(of: device.hash, at: requestor) }
  }

  // MARK: - Reading codes

  private func read(_ call: V1Call) throws(CallError) -> V1Outcome {
    guard let (code, record) = try core.triedCode(call) else { throw .unknownCode }
    let reader = CodeReader(call, isOwner: call.isOwner(of: record))
    guard let wait = call.waitPlan(after: try call.after(), record.flow) else {
      return .reply(try answer(reader, code, record))
    }
    // During a long poll, only the record's id and the reader are kept, not the whole request.
    let (id, sequence) = (record.id, wait.sequence)
    return .wait(
      V1Wait(
        subject: .code(id), place: .device(.record, call.side(of: record)), from: SourceKey(call.request.clientAddress),
        span: wait.span, granted: wait.granted,
        while: { [core] in core.codes.find(id)?.flow.sequence == sequence },
        answer: { _ throws(CallError) in
          let record = core.codes.find(id)
          guard core.codeLooks.mustLook(at: record) else { return .reply(try answer(reader, code, record)) }
          return .later {
            try await core.codeLooks.look(at: id)
            return try answer(reader, code, core.codes.find(id))
          }
        }))
  }

  private func answer(_ reader: CodeReader, _ code: RegistrationCode, _ record: RegistrationRecord?)
    throws(CallError) -> V1Reply
  {
    guard let record else { throw .unknownCode }
    // The long poll may have lasted a minute, so the present time is used, not that of the request.
    let now = core.clock.now
    switch DeviceAnswer(record.flow, at: now) {
    case .pending, .approved:
      return V1Reply(.ok, reader.document(record, code, core, at: now), reader.format)
    case .denied: throw .denied
    case .expired: throw .expired
    case .unknown: throw .unknownCode
    }
  }

  // MARK: - Withdrawing codes

  /// Withdraws a code.
  ///
  /// Only the code's own device may withdraw it; other clients get "not found". Otherwise an attacker who has seen the
  /// code and has the app's secret could withdraw it.
  private func remove(_ call: V1Call) throws(CallError) -> V1Outcome {
    guard let (_, record) = try core.triedCode(call), call.isOwner(of: record) else {
      throw .unknownCode
    }
    return .later { [core] in
      do throws(StoreError) {
        _ = try await core.codeTransitions.withdraw(record.id, .device, audit: nil)
      } catch {
        // The code has already ended, which the client wanted, so this is no error.
        guard error == .refused(.expired) || error == .refused(.withdrawn) else { throw error }
      }
      return .noContent
    }
  }
}

/// The parameters of a request for a code.
private struct CodeRequest: Sendable {
  let device: CallDevice
  let rowKey: PublicKey
  let lifetime: CodeLifetime
  let preselected: ProviderID?
  let profile: ProfileName?
  let about: DeviceDescription
  let matchesNumber: Bool

  func record(code: CodeHash, requestor: RequestorID, at now: Instant) throws(StoreError)
    -> RegistrationRecord
  {
    // The record's id begins with the time, so that new rows are adjacent in the index. The rest is random and cannot
    // be guessed, because an app may use the id as its device's id.
    guard let id = RegistrationID(Random.uuid(near: now.milliseconds)) else {
      throw .unavailable(reason: "no id could be drawn")
    }
    var generator = SystemRandomNumberGenerator()
    return RegistrationRecord(
      id: id, code: code, requestor: requestor, device: device.id, deviceHash: device.hash,
      rowKey: rowKey, preselected: preselected, profile: profile, about: about,
      flow: PairingFlow(
        issued: now, lifetime: lifetime,
        match: matchesNumber ? NumberMatch(drawnFrom: &generator) : nil))
  }
}

extension V1Call {
  fileprivate func lifetime() throws(CallError) -> CodeLifetime {
    guard let text = try parameters.value(Field.lifetime) else { return .usual }
    guard let seconds = Int(text), let lifetime = CodeLifetime(asked: seconds) else {
      throw CallError(
        .badRequest, details: "\(Field.lifetime) must be 1 to \(CodeLifetime.longest.seconds)")
    }
    return lifetime
  }

  fileprivate func preselected() throws(CallError) -> ProviderID? {
    guard let text = try parameters.value(Field.provider) else { return nil }
    guard let id = ProviderID(text), provisioned.choice(id, of: requestor.id) != nil else {
      throw CallError(
        .badRequest, details: "the requestor has no active integration with this provider",
        code: .unknownIntegration)
    }
    return id
  }

  fileprivate func wantsNumberMatching() throws(CallError) -> Bool {
    if requestor.numberMatching { return true }
    return try parameters.value(Field.match) == "number"
  }
}

extension V1Call {
  /// The number of the last state change that a waiting client has already seen.
  package func after() throws(CallError) -> Int? {
    guard let text = try parameters.value(Field.after) else { return nil }
    guard let sequence = Int(text) else {
      throw CallError(.badRequest, details: "\(Field.after) must be a number")
    }
    return sequence
  }

  /// The terms of a long poll: the state change that the client waits for and the length of the wait; nil when the
  /// request is answered at once.
  func waitPlan(after: Int?, _ flow: PairingFlow) -> (sequence: Int, span: Duration, granted: Int)? {
    guard let seconds = preferredWait, seconds > 0 else { return nil }
    var generator = SystemRandomNumberGenerator()
    let plan = WaitPlan(
      seconds: seconds, after: after, flow: flow, at: now,
      sooner: WaitPlan.sooner(seconds, drawnFrom: &generator))
    guard case .park(let sequence, let span) = plan else { return nil }
    return (sequence, span, WaitPlan.granted(seconds))
  }
}
