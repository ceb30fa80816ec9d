internal import Administration
internal import PasswordHashing
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

// Admin routes for the accounts and entitlement rules of a provider.

extension AdminRouteBuilder {
  mutating func mountAccounts() {
    let one = AdminPaths.account(of: "{provider}")
    on(.get, AdminPaths.accounts(of: "{provider}")) { call throws(AdminError) in
      let provider = try call.provider().id
      let after: AccountName? = try call.optionalIdentifier(parameter: "after", "account")
      let limit = try call.limit()
      return .list(
        of: try await stored { () throws(StoreError) in
          try await call.core.store.accounts(provider, after: after, limit: limit)
        })
    }
    on(.get, one) { call throws(AdminError) in .document(try await call.account()) }
    on(.put, one) { call throws(AdminError) in .document(try await call.addAccount()) }
    on(.patch, one) { call throws(AdminError) in
      .document(try await call.set(try call.patch(), try call.accountWriter()))
    }
    on(.delete, one) { call throws(AdminError) in
      let account = try await call.account()
      return try await call.remove(
        .account(account.provider, account.name), account.title)
    }
    on(.put, AdminPaths.password(of: "{provider}")) { call throws(AdminError) in
      let account = try await call.account()
      try await call.setPassword(try call.newPassword(), of: account)
      return .done
    }
  }

  mutating func mountEntitlements() {
    let all = AdminPaths.entitlements(of: "{provider}")
    on(.get, all) { call throws(AdminError) in
      let provider = try call.provider().id
      let rules = call.core.provisioning.now.records.entitlements[provider] ?? []
      return .list(of: rules.sorted { $0.id < $1.id })
    }
    on(.put, all) { call throws(AdminError) in .document(try await call.addRule()) }
    let one = AdminPaths.one(AdminPaths.entitlements, "{rule}")
    on(.get, one) { call throws(AdminError) in .document(try call.rule()) }
    on(.delete, one) { call throws(AdminError) in
      let rule = try call.rule()
      _ = try await call.remove(.entitlement(rule.id), .rule(rule.id))
      return .document(rule)
    }
  }
}

extension Account {
  fileprivate var title: RecordTitle { .account(provider, name) }
}

extension AdminCall {
  fileprivate func rule() throws(AdminError) -> Entitlement {
    let rules = core.provisioning.now.records.entitlements.values.joined()
    return try lookUp("rule", text("rule"), among: rules) { $0.id.text }
  }

  fileprivate func account() async throws(AdminError) -> Account {
    let writer = try accountWriter()
    guard let account = try await writer.find() else {
      throw .missing(writer.title)
    }
    return account
  }

  fileprivate func accountWriter() throws(AdminError) -> RecordWriter<Account> {
    accountWriter(try identifier(parameter: "name", "account"), at: try provider())
  }

  /// Refuses an account name with spaces around it.
  ///
  /// The phone's form removes outer spaces, so no viewer could type such a name.
  func refuseOuterSpaces(_ name: AccountName) throws(AdminError) {
    guard name.text.withoutOuterSpaces != name.text else { return }
    throw AdminError(
      .invalid, "the account's name \"\(name)\" begins or ends with a space", hint: "remove the space")
  }

  func accountWriter(_ name: AccountName, at provider: Provider) -> RecordWriter<Account> {
    RecordWriter(
      title: .account(provider.id, name),
      key: ["provider": .string(provider.id.text), "name": .string(name.text)],
      find: { [core] () throws(AdminError) in
        try await stored { () throws(StoreError) in
          try await core.store.account(provider.id, name)
        }
      },
      provision: Provision.account,
      check: { (_) throws(AdminError) in
        guard provider.hasAccounts else {
          throw AdminError(
            .refused, "provider \(provider.id) is temporary and has no accounts",
            hint: "add the account to a local provider: regentctl provider list shows the kinds")
        }
      })
  }

  /// Adds an account with its password.
  ///
  /// If the account exists with another password, the request is refused.
  fileprivate func addAccount() async throws(AdminError) -> Saved<Account> {
    var members = try body
    members["password"] = nil
    let patch = try shaped { [members] () throws(JSONShapeError) in try Patch<Account>(members) }
    let password = try body["password"] == nil ? nil : try newPassword()
    try refuseOuterSpaces(try identifier(parameter: "name", "account"))
    let saved = try await add(patch, try accountWriter())
    guard let password else { return saved }
    let account = saved.record
    let phc = try await stored { () throws(StoreError) in
      try await core.store.password(of: account.name, at: account.provider)
    }
    guard let phc else {
      // The account is new, or an earlier request failed before it stored the password.
      try await setPassword(password, of: account)
      return saved
    }
    if case .wrong = try await hashing({ () throws(PasswordError) in
      try await core.passwords.check(password, against: phc)
    }) {
      throw AdminError(
        .different, "\(account.title) already exists with another password",
        hint: "to change it, run regentctl account password \(account.provider) \(shellQuoted(account.name.text))")
    }
    return saved
  }

  fileprivate func newPassword() throws(AdminError) -> Secret {
    let body = try body
    let text = try shaped { () throws(JSONShapeError) in try body.string("password") }
    guard (1...PasswordHasher.longestPassword).contains(text.utf8.count) else {
      throw AdminError(
        .invalid, "a password must have 1 to \(PasswordHasher.longestPassword) bytes")
    }
    return Secret(text)
  }

  fileprivate func setPassword(_ password: Secret, of account: Account) async throws(AdminError) {
    let phc = try await hashing { () throws(PasswordError) in
      try await core.passwords.hash(password)
    }
    let line = entry("account.password", account.title.name)
    try await stored { () throws(StoreError) in
      try await core.codeTransitions.setPassword(
        phc, of: account.name, at: account.provider, by: .operator, audit: line, at: now)
    }
  }

  private func hashing<Value>(_ work: () async throws(PasswordError) -> Value)
    async throws(AdminError) -> Value
  {
    do throws(PasswordError) {
      return try await work()
    } catch {
      throw AdminError(.unavailable, "\(error)", hint: "run the command again in a minute")
    }
  }
}

// MARK: - Entitlement rules

extension AdminCall {
  /// Adds an entitlement rule.
  ///
  /// An equal existing rule stays unchanged. A rule that allows what an existing one denies, or denies what it allows,
  /// is refused.
  fileprivate func addRule() async throws(AdminError) -> Saved<Entitlement> {
    let known = try self.provider()
    let provider = known.id
    let request: EntitlementRequest = try document()
    // A temporary pass opens every title anyway. A rule that allows titles is therefore harmless at such a provider. A
    // rule that denies titles would have no effect, although the operator would rely on it.
    guard known.hasAccounts || request.effect == .allow else {
      throw AdminError(
        .refused, "provider \(provider) is temporary: it has no rules, because its passes open every title",
        hint:
          "limit the passes instead: regentctl provider set \(provider) --lifetime 1h --resource-limit 10")
    }
    guard request.provider == provider else {
      throw AdminError(.invalid, "the rule's provider differs from the one in the request's path")
    }
    let rules = core.provisioning.now.records.entitlements[provider] ?? []
    if let there = rules.first(where: { EntitlementRequest($0).isAboutSame(as: request) }) {
      guard EntitlementRequest(there) == request else {
        throw AdminError(
          .different, "rule \(there.id) for the same titles and viewers already exists with another effect",
          hint: "to remove it, run regentctl entitle remove \(there.id)")
      }
      return Saved(there, .unchanged)
    }
    try await checkScope(request)
    let rule = request.entitlement(id: try newIdentifier())
    let line = entry(
      "entitlement.add", rule.id.text,
      detail: "\(rule.effect == .allow ? "allow" : "deny") titles \(rule.pattern), provider \(provider)")
    _ = try await stored { () throws(StoreError) in
      try await core.store.put(.entitlement(rule), replacing: nil, audit: line, at: now)
    }
    try await refresh()
    return Saved(rule, .added)
  }

  /// Refuses an entitlement rule for an account that does not exist, because its name must be a typing mistake.
  private func checkScope(_ request: EntitlementRequest) async throws(AdminError) {
    guard case .account(let name) = request.scope else { return }
    let account = try await stored { () throws(StoreError) in
      try await core.store.account(request.provider, name)
    }
    if account == nil { throw .missing(.account(request.provider, name)) }
  }
}

extension AdminCall {
  /// Makes a random id of 12 letters and digits: short enough to type, and long enough that collisions are not
  /// expected.
  func newIdentifier<Kind>() throws(AdminError) -> Identifier<Kind> {
    let text = Random.text(12, from: "23456789abcdefghjkmnpqrstuvwxyz")
    guard let identifier = Identifier<Kind>(text) else {
      throw AdminError(.failed, "the service could not create an id", hint: "run the command again")
    }
    return identifier
  }
}
