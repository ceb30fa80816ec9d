/// What the service keeps, verb by verb.
///
/// **Every verb that writes is one transaction.** It looks at the state it expects, inside that transaction, and either
/// does all it says or throws and has changed nothing (except ``StoreError/unknownOutcome(reason:)``). When it returns,
/// what it did is durable. Two verbs that run at the same time, in one process or in several on the same database,
/// leave what they would have left one after the other.
///
/// **Every verb may be repeated.** After an unknown outcome the service reopens the store and asks again; a verb that
/// had taken effect then finds its own ids there and either says the same again or refuses what is done already.
///
/// **A row whose signature does not verify does not exist** for any verb, and the store appends `row.tampered` to the
/// audit log, once per row and start.
///
/// Time is an argument, and so are ids, hashes and secrets: a store draws no randomness but for
/// ``KeyStore/keyMaterial(for:)``.
///
/// How often verbs are called: polls of waiting devices call none at all (the service keeps live codes in memory);
/// approving, delivering and permitting write once each.
public protocol Store: CodeStore, AuthenticationStore, PermitStore, SessionStore, ProvisioningStore,
  ClientStore, GrantStore, ClientInvitationStore, PlatformStore, KeyStore, EnrolmentStore, AuditStore,
  LoginFailureStore, MaintenanceStore, NodeStore
{}

/// Clean-up and start-up.
public protocol MaintenanceStore: Sendable {
  /// Forgets, at most `limit` rows at a time, what nobody can ask for any more: codes past ``PairingFlow/forgettable``,
  /// authentications and permits that expired as long ago, ended sessions, invitations that are over, clients that
  /// registered themselves, or with a statement, and never paired (``ClientRoom/unpairedLifetime``), login failures
  /// past their memory, signing keys past their need. Of temporary passes the newest `passes` are remembered, used up
  /// or not, and those that still run: a pass that was used up stays used up until so many have begun after it. Of
  /// login failures `failures` are remembered: those with the fewest go first, of these the oldest.
  ///
  /// - Returns: how many rows went; zero when there is nothing left to forget now.
  func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int) async throws(StoreError) -> Int

  /// Writes something that changes nothing, to see whether anything can be written.
  func tryWriting() async throws(StoreError)

  /// Keeps what a node counts in the place of what it kept before; a text that only the service reads.
  ///
  /// Without a node it is the whole service's.
  func keepNumbers(_ text: String, as kind: StoredCounters, of node: NodeID?) async throws(StoreError)

  /// What was kept last.
  func keptNumbers(_ kind: StoredCounters, of node: NodeID?) async throws(StoreError) -> String?

  /// What each of the nodes has kept last, those that are gone included.
  func keptNumbersOfNodes(_ kind: StoredCounters) async throws(StoreError) -> [NodeID: String]
}

/// What the service counts and notes by itself.
public enum StoredCounters: String, Hashable, Sendable, CaseIterable {
  /// What happened today.
  case day
  /// When a backup was made last.
  case backup
  /// When each key pair last signed a call.
  case keys
  /// Which nonces were used by calls that say they were signed later than that.
  case nonces
  /// Which assertions of clients were used whose time would not tell that.
  case assertions
  /// Which time the service believed last.
  case clock
  /// Whether the service runs: it still says so when the process was killed or the power was cut.
  case running
}

extension MaintenanceStore {
  /// Keeps what the whole service counts.
  public func keepNumbers(_ text: String, as kind: StoredCounters) async throws(StoreError) {
    try await keepNumbers(text, as: kind, of: nil)
  }

  /// What the whole service has kept last.
  public func keptNumbers(_ kind: StoredCounters) async throws(StoreError) -> String? {
    try await keptNumbers(kind, of: nil)
  }

  /// The same, with the usual memories.
  public func forgetExpired(
    at now: Instant, limit: Int, remembering passes: Int = TemporaryPassRules.remembered
  ) async throws(StoreError) -> Int {
    try await forgetExpired(at: now, limit: limit, passes: passes, failures: LoginThrottle.remembered)
  }
}

public import RegentPairing
