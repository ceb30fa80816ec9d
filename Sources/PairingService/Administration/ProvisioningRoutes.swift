internal import Administration
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

extension AdminRouteBuilder {
  mutating func mountRequestors() {
    let one = AdminPaths.requestor("{requestor}")
    on(.get, AdminPaths.requestors) { call throws(AdminError) in
      let all = call.core.provisioning.now.records.requestors.values
      return .list(of: all.sorted { $0.id < $1.id })
    }
    on(.get, one) { call throws(AdminError) in .document(try call.requestor()) }
    on(.put, one) { call throws(AdminError) in
      try call.refuseVerbs()
      let saved = try await call.add(try call.patch(), try call.requestorWriter())
      try await call.ensureRowKey(of: saved.record.id)
      return .document(saved)
    }
    on(.patch, one) { call throws(AdminError) in
      .document(try await call.set(try call.patch(), try call.requestorWriter()))
    }
    on(.delete, one) { call throws(AdminError) in
      let requestor = try call.requestor()
      try await call.withdrawCodes(of: requestor.id)
      return try await call.remove(.requestor(requestor.id), .requestor(requestor.id))
    }
  }

  mutating func mountProviders() {
    let one = AdminPaths.provider("{provider}")
    on(.get, AdminPaths.providers) { call throws(AdminError) in
      let all = call.core.provisioning.now.records.providers.values
      return .list(of: all.sorted { $0.id < $1.id })
    }
    on(.get, one) { call throws(AdminError) in .document(try call.provider()) }
    on(.put, one) { call throws(AdminError) in
      .document(try await call.add(try call.patch(), try call.providerWriter()))
    }
    on(.patch, one) { call throws(AdminError) in
      .document(try await call.set(try call.patch(), try call.providerWriter()))
    }
    on(.delete, one) { call throws(AdminError) in
      let provider = try call.provider()
      return try await call.remove(.provider(provider.id), .provider(provider.id))
    }
  }

  mutating func mountIntegrations() {
    let one = AdminPaths.integration("{requestor}", "{provider}")
    on(.get, AdminPaths.integrations(of: "{requestor}")) { call throws(AdminError) in
      let requestor = try call.requestor()
      let all = call.core.provisioning.now.records.integrations[requestor.id] ?? [:]
      return .list(of: all.values.sorted { $0.provider < $1.provider })
    }
    on(.get, one) { call throws(AdminError) in
      let writer = try call.integrationWriter()
      guard let integration = try await writer.find() else {
        throw .missing(writer.title)
      }
      return .document(integration)
    }
    on(.patch, one) { call throws(AdminError) in
      .document(try await call.put(try call.patch(), try call.integrationWriter()))
    }
    on(.delete, one) { call throws(AdminError) in
      try call.refuseSwapped()
      let (requestor, provider) = (try call.requestor().id, try call.provider().id)
      return try await call.remove(
        .integration(requestor, provider), .integration(requestor, provider))
    }
  }
}

extension AdminCall {
  /// Parses the request body as a change to a record.
  func patch<Record: OperatorRecord>() throws(AdminError) -> Patch<Record> {
    let body = try body
    return try shaped { () throws(JSONShapeError) in try Patch<Record>(body) }
  }

  func requestor() throws(AdminError) -> Requestor {
    let id: RequestorID = try identifier("requestor", "requestor")
    guard let requestor = core.provisioning.now.records.requestors[id] else {
      throw missing("requestor", id.text, other: ("provider", ProviderID(id.text).flatMap(isProvider) == true))
    }
    return requestor
  }

  func provider() throws(AdminError) -> Provider {
    let id: ProviderID = try identifier("provider", "provider")
    guard let provider = core.provisioning.now.records.providers[id] else {
      throw missing("provider", id.text, other: ("requestor", RequestorID(id.text).flatMap(isRequestor) == true))
    }
    return provider
  }

  private func isProvider(_ id: ProviderID) -> Bool { core.provisioning.now.records.providers[id] != nil }

  private func isRequestor(_ id: RequestorID) -> Bool { core.provisioning.now.records.requestors[id] != nil }

  /// The error for the name of a record that does not exist.
  ///
  /// If a record of the other kind (requestor or provider) has that name, the message says so.
  private func missing(_ what: String, _ name: String, other: (kind: String, hasIt: Bool)) -> AdminError {
    guard other.hasIt else { return .missing(what, name) }
    return AdminError(
      .notFound, "there is no \(what) \(name): \(name) is a \(other.kind)",
      hint: "list the \(what)s: regentctl \(what) list")
  }

  /// Refuses a requestor and a provider that were given in the wrong order, and says so in a hint.
  fileprivate func refuseSwapped() throws(AdminError) {
    let (first, second) = (text("requestor"), text("provider"))
    guard let provider = ProviderID(first), let requestor = RequestorID(second), isProvider(provider),
      isRequestor(requestor), RequestorID(first).map(isRequestor) != true
    else { return }
    throw AdminError(
      .notFound, "\(first) is a provider and \(second) a requestor",
      hint: "swap them; the requestor comes first: \(second) \(first)")
  }

  fileprivate func requestorWriter() throws(AdminError) -> RecordWriter<Requestor> {
    let id: RequestorID = try newIdentifier("requestor")
    return RecordWriter(
      title: .requestor(id), key: ["id": .string(id.text)],
      find: { [core] () throws(AdminError) in core.provisioning.now.records.requestors[id] },
      provision: Provision.requestor, check: Self.checkCertificate)
  }

  fileprivate func providerWriter() throws(AdminError) -> RecordWriter<Provider> {
    let id: ProviderID = try newIdentifier("provider")
    return RecordWriter(
      title: .provider(id), key: ["id": .string(id.text)],
      find: { [core] () throws(AdminError) in core.provisioning.now.records.providers[id] },
      provision: Provision.provider)
  }

  fileprivate func integrationWriter() throws(AdminError) -> RecordWriter<Integration> {
    try refuseSwapped()
    let (requestor, provider) = (try requestor().id, try provider().id)
    return RecordWriter(
      title: .integration(requestor, provider),
      key: ["requestor": .string(requestor.text), "provider": .string(provider.text)],
      find: { [core] () throws(AdminError) in
        core.provisioning.now.records.integrations[requestor]?[provider]
      },
      provision: Provision.integration)
  }

  /// Checks the id in the path, for a new record.
  private func newIdentifier<Kind>(_ what: String) throws(AdminError) -> Identifier<Kind> {
    // Clients resolve "." and ".." in URL paths, so the protocol could never reach a record with such an id.
    guard let identifier = Identifier<Kind>(text(what)), !identifier.text.allSatisfy({ $0 == "." })
    else {
      throw AdminError(
        .invalid, "\(text(what)) is not a valid id of a \(what)",
        hint: "use 1 to 128 letters, digits, dots, dashes or underscores, without spaces")
    }
    return identifier
  }

  /// Refuses a new requestor whose id is also a subcommand, such as `list` in `regentctl integrate list`.
  fileprivate func refuseVerbs() throws(AdminError) {
    let id = text("requestor")
    let isThere = core.provisioning.now.records.requestors.keys.contains { $0.text == id }
    guard !isThere, Requestor.wordsOfVerbs.contains(id) else { return }
    throw AdminError(
      .invalid,
      "\(id) cannot be the id of a requestor, because regentctl integrate \(id) is a command",
      hint: "use another id, for example \(id)-tv")
  }

  private static let checkCertificate: @Sendable (Requestor) throws(AdminError) -> Void = {
    (requestor) throws(AdminError) in
    guard let pem = requestor.certificate else { return }
    do throws(KeyError) {
      _ = try RSAEncryptionKey(pem: pem)
    } catch {
      throw AdminError(
        .invalid, "the certificate cannot be used: \(error)",
        hint: "use an X.509 certificate in PEM with an RSA key of at least 2048 bits")
    }
  }
}
