package import PasswordHashing
internal import RegentCryptography
internal import RegentPairing
package import PairingStore
package import RegentPlatform

/// What all routes share: the store, what is kept in memory beside it, keys, limits and clocks.
///
/// Made once at start, from the store alone: whatever is in memory here can be made again.
package final class ServiceCore: Sendable {
  /// What an operator decided.
  package let options: ServiceOptions
  /// What survives a restart.
  package let store: any Store
  /// The two clocks.
  package let clock: ServiceClock
  /// Where lines for whoever runs the service go.
  package let log: ServiceLog
  /// What it is told while the store does not do what calls want of it.
  package let storeTrouble: StoreTrouble
  /// Hashes of secret things.
  package let hasher: KeyedHasher
  /// What operators made.
  package let provisioning: ProvisioningCache
  /// The codes that are remembered.
  package let codes: LiveCodes
  /// Looks into the store where other nodes may know more.
  package let codeLooks: CodeLooks
  /// Whether this node hears of what other nodes write.
  package let nodeNews: NodeNews
  /// Replies that are held.
  package let waiters: Waiters
  /// Whether it is to hold no more of them.
  package let drain: Drain
  /// When devices last asked for their sign-in.
  package let lastUses: LastUseTimes
  /// When key pairs last signed a call.
  package let keyUses: KeyUseTimes
  /// Changes codes: in the store, then in memory, then wakes who waits.
  package let codeTransitions: CodeTransitions
  /// Begins, picks up and ends sign-ins: in the store, then in memory, then counts.
  package let signInTransitions: SignInTransitions
  /// What viewers decide about apps of boxes: in the store, then wakes the box.
  package let boxDecisions: BoxDecisions
  /// What happened, as numbers.
  package let metrics: ServiceMetrics
  /// Lines of the audit log that belong to no transaction.
  package let audit: AuditTrail
  /// How many requests and wrong codes are let through.
  package let limits: RequestLimits
  /// A proxy in front that the settings do not name.
  package let undeclaredProxy = UndeclaredProxy()
  /// Why the next start of this service would fail; nil when nothing is known of it.
  package let nextStartProblem = Locked<String?>(nil)
  /// By which time things are deleted.
  package let age: AgeTime
  /// Which nonces were used.
  package let nonces: UsedNonces
  /// Checks signed headers and access tokens.
  package let credentials: Credentials
  /// Tokens of registered clients.
  package let accessTokens: AccessTokens
  /// Keys that sign media tokens.
  package let mediaKeys: SigningKeys
  /// What answers clients that speak OAuth.
  package let oauth: OAuthParts
  /// What registered applications show for themselves.
  package let statements: SoftwareStatements
  /// The requestors whose apps show a signature that no certificate verifies.
  package let missingCertificates = MissingCertificates()
  /// What boxes are asked for their apps.
  package let profileRequests: ProfileRequests
  /// What devices that sign out give to the browser they signed in with.
  package let logoutTickets: LogoutTickets
  /// Hashes passwords and compares them with stored hashes.
  package let passwords: PasswordHasher
  /// In which other forms passwords are stored.
  let passwordForms: PasswordForms

  /// Loads everything that is kept in memory.
  package init(
    _ options: ServiceOptions, store: any Store, clock: ServiceClock = .machine,
    log: ServiceLog = .silent, passwords: Argon2Parameters = .standard
  ) async throws {
    self.options = options
    self.store = store
    self.clock = clock
    let log = log.capped(by: clock)
    self.log = log
    storeTrouble = StoreTrouble(log, clock: clock)
    hasher = try await KeyedHasher(store)
    provisioning = try await ProvisioningCache(store)
    codes = LiveCodes(clock: clock, isShared: store.isShared)
    codeLooks = CodeLooks(store, codes, clock: clock)
    nodeNews = NodeNews(store, clock: clock)
    waiters = Waiters(clock: clock)
    drain = Drain(waiters)
    boxDecisions = BoxDecisions(store, waiters, clock: clock)
    let node = store.isShared ? options.node : nil
    let ownDay = try await store.keptNumbers(.day, of: node)
    // Not what the service counted before it had nodes: each of them would go on from it, and it is counted once.
    metrics = ServiceMetrics(clock, kept: ownDay)
    age = AgeTime(
      clock, keptAs: try await store.keptTime(asNode: node, at: clock.now),
      day: ownDay == nil && node != nil ? try await store.keptNumbers(.day) : ownDay)
    lastUses = LastUseTimes()
    keyUses = KeyUseTimes(keptAs: try await store.keptNumbers(.keys, asNode: node))
    for text in try await store.keptByFormerNodes(.keys) { keyUses.learn(text) }
    codeTransitions = CodeTransitions(
      store: store, codes: codes, waiters: waiters, metrics: metrics, clock: clock)
    audit = AuditTrail(store, clock: clock, log: log)
    signInTransitions = SignInTransitions(
      store: store, codes: codes, codeTransitions: codeTransitions, waiters: waiters,
      boxDecisions: boxDecisions, provisioning: provisioning, lastUses: lastUses, metrics: metrics, audit: audit,
      clock: clock, mostOfAccount: options.limits.signInsOfAccount)
    limits = RequestLimits(
      options.limits, clock: clock, metrics: metrics, log: log, sharedBy: .guesses(store, log: log))
    accessTokens = try await AccessTokens(store, lifetime: options.accessTokenLifetime)
    nonces = UsedNonces(
      startingAt: clock.now,
      keptAs: try await store.kept(.nonces, asNode: node),
      afterCut: try await store.keptNumbers(.running, of: node) == Upkeep.isRunning,
      capacity: options.limits.nonces, sharedBy: .nonces(store, log: log))
    credentials = try Credentials(
      provisioning: provisioning, tokens: accessTokens, keyUses: keyUses, nonces: nonces, log: log, metrics: metrics)
    mediaKeys = try await SigningKeys(store, for: .media, lead: options.signingKeyLead)
    try await mediaKeys.ensure(.rs256, at: clock.now)
    oauth = try await OAuthParts(
      options, store: store, clock: clock, usedAssertions: try await store.kept(.assertions, asNode: node))
    statements = try await SoftwareStatements(
      store, keys: mediaKeys, issuer: options.publicURL)
    logoutTickets = try await LogoutTickets(store)
    profileRequests = try await ProfileRequests(store, issuer: options.publicURL)
    self.passwords = try PasswordHasher(passwords)
    passwordForms = try await PasswordForms(store, own: passwords)
    // Where several nodes share a store each knows the codes that it was asked for.
    if !store.isShared { try await loadCodes() }
  }

  /// Whose numbers this service keeps: the node's where there are several.
  var keeper: NodeID? { store.isShared ? options.node : nil }

  /// What viewers and operators called these screens; those without a name of their own are left out.
  func screenNames(
    of records: [AuthenticationRecord]
  ) async throws(StoreError) -> [AuthenticationID: String] {
    let screens = records.map { ($0.authentication.id, hasher.screen(of: $0)) }
    let names = try await store.names(of: Set(screens.map(\.1)))
    return Dictionary(
      uniqueKeysWithValues: screens.compactMap { id, screen in names[screen].map { (id, $0) } })
  }

  /// The store names registrations by id, so that a list of a million comes in pieces; while one is put into memory,
  /// the next is read and its rows are verified.
  private func loadCodes() async throws {
    let now = clock.now
    var page = try await store.registrations(after: nil, limit: 1000, at: now)
    while let last = page.last?.id {
      async let next = store.registrations(after: last, limit: 1000, at: now)
      for record in page { codes.add(record, hasEarlierSignIn: nil) }
      page = try await next
    }
  }
}

extension Store {
  /// What a node has kept; what the service kept before it had nodes, when the node is new.
  fileprivate func keptNumbers(_ kind: StoredCounters, asNode node: NodeID?) async throws(StoreError) -> String? {
    if let node, let own = try await keptNumbers(kind, of: node) { return own }
    return try await keptNumbers(kind)
  }

  /// What nodes have kept on the server from which the database came back into a file: what is old of it says nothing.
  fileprivate func keptByFormerNodes(_ kind: StoredCounters) async throws(StoreError) -> [String] {
    isShared ? [] : Array(try await keptNumbersOfNodes(kind).values)
  }

  /// All that this node, or those that the service had before, have kept.
  fileprivate func kept(_ kind: StoredCounters, asNode node: NodeID?) async throws(StoreError) -> [String] {
    let own = try await keptNumbers(kind, asNode: node)
    return try await keptByFormerNodes(kind) + [own].compactMap(\.self)
  }

  /// The time that was believed last, by this service or by nodes that it had; of those no time that is yet to come.
  fileprivate func keptTime(asNode node: NodeID?, at now: Instant) async throws(StoreError) -> String? {
    let own = try await keptNumbers(.clock, asNode: node)
    let former = try await keptByFormerNodes(.clock).compactMap(Int64.init).filter { $0 <= now.milliseconds }.max()
    guard let former, former > own.flatMap(Int64.init) ?? .min else { return own }
    return String(former)
  }
}
