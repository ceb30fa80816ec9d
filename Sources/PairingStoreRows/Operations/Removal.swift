public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.provision(context, id) != nil else {
        throw StoreError.notFound(what: id.kind)
      }
      try rows.note(context, entry)
      context.changed(.provisioning)
      switch id {
      case .requestor(let id): try RowStore.removeRequestor(context, id.text)
      case .provider(let id): return try rows.removeProvider(context, id, at: now)
      case .integration(let requestor, let provider):
        // The sign-ins at the integration are deleted, so that they do not become valid again when an operator adds the
        // integration again.
        try SignedRows.deleteSignIns(context, .integration(requestor: requestor.text, provider: provider.text))
        try context.run(
          """
          DELETE FROM integration WHERE requestor = \(requestor.text)
          AND provider = \(provider.text)
          """)
      case .account(let provider, let name):
        return try rows.removeAccount(context, provider, name, at: now)
      case .entitlement(let id):
        try context.run("DELETE FROM entitlement WHERE id = \(id.text)")
      case .application(let id):
        try context.run("DELETE FROM application WHERE id = \(id.text)")
        try context.run("DELETE FROM client WHERE application = \(id.text)")
        let clients = try rows.all(
          context, Tables.oauthClients, "\(all: Tables.oauthClients) WHERE application = \(id.text)")
        for client in clients { _ = try rows.endGrants(context, GrantFilter(client: client.record.id)) }
        try context.run("DELETE FROM oauth_client WHERE application = \(id.text)")
      }
      return []
    }
  }

  private static func removeRequestor(_ context: borrowing WriteContext, _ id: String) throws {
    try SignedRows.deleteSignIns(context, .requestor(id))
    try context.run("DELETE FROM registration WHERE requestor = \(id)")
    try context.run("DELETE FROM temporary_pass WHERE requestor = \(id)")
    try context.run("DELETE FROM client WHERE requestor = \(id)")
    try context.run("DELETE FROM oauth_client WHERE requestor = \(id)")
    try context.run("DELETE FROM platform_permission WHERE requestor = \(id)")
    try context.run("DELETE FROM enrolment WHERE requestor = \(id)")
    try context.run("DELETE FROM client_invitation WHERE requestor = \(id)")
    try context.run("DELETE FROM application WHERE requestor = \(id)")
    try context.run("DELETE FROM integration WHERE requestor = \(id)")
    try context.run("DELETE FROM key_pair WHERE requestor = \(id)")
    try context.run("DELETE FROM requestor WHERE id = \(id)")
  }
}

extension SignedRows {
  fileprivate func removeProvider(
    _ context: borrowing WriteContext, _ provider: ProviderID, at now: Instant
  ) throws -> [RegistrationChange] {
    let id = provider.text
    let ended = try all(
      context, Tables.sessions, "\(all: Tables.sessions) WHERE provider = \(id)")
    let changes = try endSessions(context, ended.map(\.record), at: now)
    try context.run("DELETE FROM session WHERE provider = \(id)")
    try SignedRows.deleteSignIns(context, .provider(id))
    try context.run("DELETE FROM temporary_pass WHERE provider = \(id)")
    try context.run("DELETE FROM entitlement WHERE provider = \(id)")
    try context.run("DELETE FROM integration WHERE provider = \(id)")
    try context.run("DELETE FROM password WHERE provider = \(id)")
    try context.run("DELETE FROM account WHERE provider = \(id)")
    try context.run("DELETE FROM provider WHERE id = \(id)")
    return changes
  }

  fileprivate func removeAccount(
    _ context: borrowing WriteContext, _ provider: ProviderID, _ name: AccountName, at now: Instant
  ) throws -> [RegistrationChange] {
    let viewer = Viewer(provider: provider, account: name)
    let (place, who) = (provider.text, name.text)
    let changes = try endSessions(context, sessions(context, of: viewer), at: now)
    try context.run("DELETE FROM session WHERE provider = \(place) AND account = \(who)")
    try SignedRows.deleteSignIns(context, .account(provider: place, name: who))
    try context.run("DELETE FROM entitlement WHERE provider = \(place) AND account = \(who)")
    try context.run("DELETE FROM password WHERE provider = \(place) AND name = \(who)")
    try context.run("DELETE FROM account WHERE provider = \(place) AND name = \(who)")
    return changes
  }
}
