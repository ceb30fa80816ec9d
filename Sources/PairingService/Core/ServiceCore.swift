package import PasswordHashing
internal import RegentCryptography
internal import RegentPairing
package import PairingStore
package import RegentPlatform

/// The state that all routes share: the store, the caches, the keys, the limits and the clocks.
///
/// It is built from the store at the start, so a restart loses nothing that cannot be built again.
package final class ServiceCore: Sendable {
  package let options: ServiceOptions
  package let store: any Store
  package let clock: ServiceClock
  package let log: ServiceLog
  /// Logs failures of the store, without one line for each refused request.
  package let storeTrouble: StoreTrouble
  /// Hashes secret values.
  package let hasher: KeyedHasher
  package let provisioning: ProvisioningCache
  package let codes: LiveCodes
  /// Reads codes from the store when another node may have changed them.
  package let codeLooks: CodeRefresher
  /// Whether this node still learns of other nodes' changes.
  package let nodeChangeFeed: NodeChangeFeed
  /// The long polls that wait for an answer.
  package let waiters: Waiters
  /// Whether this node accepts no more long polls, because it will be stopped.
  package let drain: Drain
  package let lastUses: LastUseTimes
  package let keyUses: KeyUseTimes
  /// Changes codes in the store and in memory, then completes long polls.
  package let codeTransitions: CodeTransitions
  /// Creates, reads and ends sign-ins in the store and in memory, then counts them.
  package let signInTransitions: SignInTransitions
  /// Stores what viewers decide about the apps of boxes, then completes the box's long polls.
  package let boxDecisions: BoxDecisions
  package let metrics: ServiceMetrics
  /// Writes audit lines that belong to no transaction.
  package let audit: AuditTrail
  /// Rate limits for requests, and limits for wrong codes.
  package let limits: RequestLimits
  /// The last proxy whose requests reached the service although the settings do not name it.
  package let undeclaredProxy = UndeclaredProxy()
  /// The clocks of boxes, as their requests report them.
  package let boxClocks = BoxClocks()
  /// Facts for the metrics, read once a minute.
  package let monitored = Locked(MonitoredFacts())
  /// Why the next start of this service would fail, for example because the master key file is missing; nil when no
  /// reason is known.
  package let nextStartProblem = Locked<String?>(nil)
  /// The time by which the service decides which data is old enough to be deleted.
  package let age: SharedRetentionClock
  /// Remembers the used nonces of signed requests, to detect replays.
  package let nonces: UsedNonces
  /// Checks signed headers and access tokens.
  package let credentials: Credentials
  /// Issues and verifies the access tokens of registered clients.
  package let accessTokens: AccessTokens
  /// The keys that sign media tokens.
  package let mediaKeys: SigningKeys
  /// The keys, caches and limits of the OAuth endpoints.
  package let oauth: OAuthParts
  /// Checks the software statements of registered applications.
  package let statements: SoftwareStatements
  /// Remembers requestors without a certificate whose apps send a signed requestor id.
  package let missingCertificates = MissingCertificates()
  /// The requests that apps pass to their box so that the box's account signs them in.
  package let profileRequests: ProfileRequests
  /// The tickets of devices that sign out.
  ///
  /// With a ticket, the session of the browser that approved the device ends as well.
  package let logoutTickets: LogoutTickets
  package let passwords: PasswordHasher
  /// The formats and work factors of the stored password hashes at each provider that differ from the usual one.
  let passwordForms: PasswordForms

  /// Reads the caches and keys from the store and makes all parts of the service.
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
    codeLooks = CodeRefresher(store, codes, clock: clock)
    nodeChangeFeed = NodeChangeFeed(store, clock: clock)
    waiters = Waiters(clock: clock, room: options.limits.longPolls)
    drain = Drain(waiters)
    boxDecisions = BoxDecisions(store, waiters, clock: clock)
    let node = store.isShared ? options.node : nil
    let ownDay = try await store.keptNumbers(.day, of: node)
    // Each node continues from its own counters. Counters from before the service had nodes are not used: every node
    // would continue from those, and they would be counted several times.
    metrics = ServiceMetrics(clock, kept: ownDay)
    age = SharedRetentionClock(
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
    // Nodes that share a store do not load all codes. Each loads a code when a client asks for it.
    if !store.isShared { try await loadCodes() }
  }

  /// The node under whose name counters are stored; nil when only this process uses the store.
  var keeper: NodeID? { store.isShared ? options.node : nil }

  /// Loads all codes from the store into memory, in pages of 1,000.
  ///
  /// While one page is put into memory, the next is read and its rows are verified.
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
  /// The text (such as counters) that this node has stored; for a new node, the text that the service stored before it
  /// had nodes.
  fileprivate func keptNumbers(_ kind: StoredCounters, asNode node: NodeID?) async throws(StoreError) -> String? {
    if let node, let own = try await keptNumbers(kind, of: node) { return own }
    return try await keptNumbers(kind)
  }

  /// The texts (such as counters) that the nodes stored when the service still had several of them.
  ///
  /// Empty while the store is shared.
  fileprivate func keptByFormerNodes(_ kind: StoredCounters) async throws(StoreError) -> [String] {
    isShared ? [] : Array(try await keptNumbersOfNodes(kind).values)
  }

  /// The texts (such as counters) that this node stored, and those of the service's earlier nodes.
  fileprivate func kept(_ kind: StoredCounters, asNode node: NodeID?) async throws(StoreError) -> [String] {
    let own = try await keptNumbers(kind, asNode: node)
    return try await keptByFormerNodes(kind) + [own].compactMap(\.self)
  }

  /// The latest time that the service accepted as correct in an earlier run.
  ///
  /// If the service had several nodes before and has one now, it reads the times that all of them stored, except times
  /// in the future.
  fileprivate func keptTime(asNode node: NodeID?, at now: Instant) async throws(StoreError) -> String? {
    let own = try await keptNumbers(.clock, asNode: node)
    let former = try await keptByFormerNodes(.clock).compactMap(Int64.init).filter { $0 <= now.milliseconds }.max()
    guard let former, former > own.flatMap(Int64.init) ?? .min else { return own }
    return String(former)
  }
}
