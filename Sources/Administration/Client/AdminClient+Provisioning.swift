import RegentHTTPCodec
import RegentJSON
public import RegentPairing

extension AdminClient {
  public func requestors() async throws(AdminError) -> [Requestor] {
    try await list(AdminPaths.requestors)
  }

  public func requestor(_ id: RequestorID) async throws(AdminError) -> Requestor {
    try await document(.get, AdminPaths.requestor(id.text))
  }

  /// Adds a requestor; if an equal one exists, it stays unchanged.
  public func add(_ id: RequestorID, _ patch: Patch<Requestor>)
    async throws(AdminError) -> Saved<Requestor>
  {
    try await document(.put, AdminPaths.requestor(id.text), patch.members)
  }

  /// Changes the given members of a requestor.
  public func set(_ id: RequestorID, _ patch: Patch<Requestor>)
    async throws(AdminError) -> Saved<Requestor>
  {
    try await document(.patch, AdminPaths.requestor(id.text), patch.members)
  }

  /// Removes a requestor and everything that depends on it.
  public func remove(_ id: RequestorID) async throws(AdminError) {
    try await act(.delete, AdminPaths.requestor(id.text))
  }

  public func providers() async throws(AdminError) -> [Provider] {
    try await list(AdminPaths.providers)
  }

  public func provider(_ id: ProviderID) async throws(AdminError) -> Provider {
    try await document(.get, AdminPaths.provider(id.text))
  }

  /// Adds a provider; if an equal one exists, it stays unchanged.
  public func add(_ id: ProviderID, _ patch: Patch<Provider>)
    async throws(AdminError) -> Saved<Provider>
  {
    try await document(.put, AdminPaths.provider(id.text), patch.members)
  }

  /// Changes the given members of a provider.
  public func set(_ id: ProviderID, _ patch: Patch<Provider>)
    async throws(AdminError) -> Saved<Provider>
  {
    try await document(.patch, AdminPaths.provider(id.text), patch.members)
  }

  /// Removes a provider and everything that depends on it.
  public func remove(_ id: ProviderID) async throws(AdminError) {
    try await act(.delete, AdminPaths.provider(id.text))
  }

  public func integrations(of requestor: RequestorID) async throws(AdminError) -> [Integration] {
    try await list(AdminPaths.integrations(of: requestor.text))
  }

  /// Adds an integration, or changes the given members of it.
  public func integrate(
    _ requestor: RequestorID, _ provider: ProviderID, _ patch: Patch<Integration>
  ) async throws(AdminError) -> Saved<Integration> {
    try await document(
      .patch, AdminPaths.integration(requestor.text, provider.text), patch.members)
  }

  public func removeIntegration(_ requestor: RequestorID, _ provider: ProviderID)
    async throws(AdminError)
  {
    try await act(.delete, AdminPaths.integration(requestor.text, provider.text))
  }
}

// MARK: - Accounts

extension AdminClient {
  public func accounts(of provider: ProviderID) async throws(AdminError) -> [Account] {
    try await wholeList(AdminPaths.accounts(of: provider.text)) { (account: Account) in
      account.name.text
    }
  }

  public func account(_ provider: ProviderID, _ name: AccountName)
    async throws(AdminError) -> Account
  {
    try await document(.get, AdminPaths.account(of: provider.text), query: [("name", name.text)])
  }

  /// Adds an account.
  ///
  /// If an equal account exists, it stays unchanged. If one with another password exists, the call is refused. An
  /// account without a password cannot sign in.
  public func add(
    _ provider: ProviderID, _ name: AccountName, _ patch: Patch<Account>, password: String?
  ) async throws(AdminError) -> Saved<Account> {
    var body = patch.members
    body["password"] = password.map(JSONValue.string)
    return try await document(
      .put, AdminPaths.account(of: provider.text), query: [("name", name.text)], body)
  }

  /// Changes the given members of an account.
  public func set(_ provider: ProviderID, _ name: AccountName, _ patch: Patch<Account>)
    async throws(AdminError) -> Saved<Account>
  {
    try await document(
      .patch, AdminPaths.account(of: provider.text), query: [("name", name.text)], patch.members)
  }

  /// Sets an account's password and ends its browser sessions.
  public func setPassword(_ password: String, of name: AccountName, at provider: ProviderID)
    async throws(AdminError)
  {
    try await act(
      .put, AdminPaths.password(of: provider.text), query: [("name", name.text)],
      ["password": .string(password)])
  }

  /// Everything that is stored about a viewer.
  public func viewerData(_ provider: ProviderID, _ name: AccountName) async throws(AdminError) -> ViewerData {
    try await document(.get, AdminPaths.viewerData(of: provider.text), query: [("name", name.text)])
  }

  /// Erases everything that is stored about a viewer, and replaces the name in the audit log.
  public func erase(_ provider: ProviderID, _ name: AccountName) async throws(AdminError) -> ErasedViewer {
    try await document(.post, AdminPaths.erasure(of: provider.text), query: [("name", name.text)])
  }

  /// Removes an account and everything that depends on it.
  public func remove(_ provider: ProviderID, _ name: AccountName) async throws(AdminError) {
    try await act(.delete, AdminPaths.account(of: provider.text), query: [("name", name.text)])
  }
}

// MARK: - Rules

extension AdminClient {
  public func entitlements(of provider: ProviderID) async throws(AdminError) -> [Entitlement] {
    try await list(AdminPaths.entitlements(of: provider.text))
  }

  /// The channels of a provider's accounts, each with the number of accounts that have it.
  public func channels(of provider: ProviderID) async throws(AdminError) -> [ChannelEntry] {
    try await list(AdminPaths.channels(of: provider.text))
  }

  /// The results of the checks that decide whether an account may watch a title.
  public func test(_ title: String, for account: AccountName, at provider: ProviderID)
    async throws(AdminError) -> [Finding]
  {
    try await list(
      AdminPaths.titleTest(of: provider.text), query: [("name", account.text), ("resource", title)])
  }

  /// Finds an entitlement rule of any provider by its id.
  public func entitlement(_ id: EntitlementID) async throws(AdminError) -> Entitlement {
    try await document(.get, AdminPaths.one(AdminPaths.entitlements, id.text))
  }

  /// Adds an entitlement rule; if an equal one exists, it stays unchanged.
  public func add(_ rule: EntitlementRequest) async throws(AdminError) -> Saved<Entitlement> {
    try await document(.put, AdminPaths.entitlements(of: rule.provider.text), rule.object)
  }

  /// Removes an entitlement rule and returns it.
  @discardableResult
  public func remove(_ id: EntitlementID) async throws(AdminError) -> Entitlement {
    try await document(.delete, AdminPaths.one(AdminPaths.entitlements, id.text))
  }
}
