internal import Administration
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

// Admin routes for temporary passes: list those in use, and reset them.

extension AdminRouteBuilder {
  mutating func mountPasses() {
    on(.get, AdminPaths.passes) { call throws(AdminError) in .list(of: try await call.passes()) }
    on(.post, AdminPaths.resetPass) { call throws(AdminError) in
      .document(CountDocument(try await call.resetPass(try call.document())))
    }
  }
}

extension AdminCall {
  fileprivate func passes() async throws(AdminError) -> [PassEntry] {
    let requestor: RequestorID? = try optionalIdentifier(parameter: "requestor", "requestor")
    let provider: ProviderID? = try optionalIdentifier(parameter: "provider", "provider")
    try checkPlace(requestor, provider)
    let last = try parameter("after").map { text throws(AdminError) in
      guard let place = TemporaryPassCursor(text) else {
        throw AdminError(.invalid, "the parameter \"after\" must be the key of a temporary pass")
      }
      return place
    }
    let limit = try limit()
    let records = try await stored { () throws(StoreError) in
      try await core.store.temporaryPasses(
        requestor: requestor, provider: provider, after: last, limit: limit)
    }
    let providers = core.provisioning.now.records.providers
    return records.map { record in
      PassEntry(record, providers[record.provider]?.temporaryPass, at: now)
    }
  }

  /// Refuses a requestor or provider that does not exist, because its name must be a typing mistake.
  private func checkPlace(_ requestor: RequestorID?, _ provider: ProviderID?) throws(AdminError) {
    let records = core.provisioning.now.records
    if let requestor, records.requestors[requestor] == nil {
      throw .missing("requestor", requestor.text)
    }
    guard let provider else { return }
    guard let found = records.providers[provider] else {
      throw .missing("provider", provider.text)
    }
    guard found.temporaryPass != nil else {
      throw AdminError(
        .refused, "provider \(provider) is not temporary: it has no passes",
        hint: "to see which providers are temporary, run regentctl provider list")
    }
  }

  fileprivate func resetPass(_ reset: PassReset) async throws(AdminError) -> Int {
    try checkPlace(reset.requestor, reset.provider)
    let whose = try await whose(reset)
    let who =
      switch whose {
      case .all: "everybody"
      case .device(let device): "device \(device.shortName)"
      case .identity: "one identity"
      }
    let line = entry(
      "temporary-pass.reset", "\(reset.requestor) \(reset.provider)", detail: who)
    return try await stored { () throws(StoreError) in
      try await core.store.resetTemporaryPasses(
        requestor: reset.requestor, provider: reset.provider, whose, audit: line, at: now)
    }
  }

  private func whose(_ reset: PassReset) async throws(AdminError) -> TemporaryPassReset {
    if let identity = reset.identity {
      // The operator may type the identity in any of the forms that apps use. It is normalized as it is for apps.
      return .identity(core.hasher.identity(PassIdentity(identity)?.text ?? identity))
    }
    guard let device = reset.device else { return .all }
    if let found = try await findDevice(device, among: try await passDevices(device, reset)) {
      return .device(found)
    }
    guard let own = DeviceID(device) else {
      throw AdminError(.invalid, "\(device) is not a device id")
    }
    return .device(core.hasher.device(own))
  }

  /// The devices with the typed short name that have used a temporary pass.
  ///
  /// The devices need not be signed in any more.
  private func passDevices(_ typed: String, _ reset: PassReset) async throws(AdminError)
    -> [DeviceHash]
  {
    guard DeviceHash.mayBeCalled(typed) else { return [] }
    var found: [DeviceHash] = []
    var last: TemporaryPassCursor?
    while true {
      let after = last
      let page = try await stored { () throws(StoreError) in
        try await core.store.temporaryPasses(
          requestor: reset.requestor, provider: reset.provider, after: after,
          limit: AdminPaths.page)
      }
      found += page.map(\.device).filter { $0.isCalled(typed) }
      guard let end = page.last else { return found }
      last = end.place
    }
  }
}

extension PassEntry {
  /// Makes the list entry of a temporary pass.
  ///
  /// `rules` is nil when the pass's provider is no longer temporary. The pass then counts as used up.
  fileprivate init(
    _ record: TemporaryPassRecord, _ rules: TemporaryPassRules?, at now: Instant
  ) {
    let started = record.use.started ?? now
    let until = rules.map { $0.expires(record.use, at: now) } ?? started
    self.init(
      place: record.place.text, requestor: record.requestor, provider: record.provider,
      device: record.device.shortName, identified: record.identity != nil,
      state: now < until ? .running : .used, started: started, until: until,
      titles: record.use.resources.count, titleLimit: rules?.resourceLimit)
  }
}

extension TemporaryPassCursor {
  /// The position in the list of passes as text.
  ///
  /// Ids contain no slash, so slashes separate the parts.
  fileprivate var text: String {
    let hashes = [device.bytes, identity?.bytes ?? []].map(Hex.encode)
    return "\(requestor)/\(provider)/\(hashes[0])/\(hashes[1])"
  }

  fileprivate init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4, let requestor = RequestorID(parts[0]),
      let provider = ProviderID(parts[1]),
      let device = (try? Hex.decode(parts[2])).flatMap({ DeviceHash($0) })
    else { return nil }
    let identity = (try? Hex.decode(parts[3])).flatMap { IdentityHash($0) }
    guard identity != nil || parts[3].isEmpty else { return nil }
    self.init(requestor: requestor, provider: provider, device: device, identity: identity)
  }
}
