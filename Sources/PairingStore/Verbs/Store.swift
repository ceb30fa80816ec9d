/// The persistent state of the service.
///
/// Each function of these protocols is called a verb.
///
/// **Every verb that writes is one transaction.** It checks the state that it expects inside that transaction, and
/// either does everything it promises, or throws and has changed nothing (except with
/// ``StoreError/unknownOutcome(reason:)``). When it returns, its changes are durable. Verbs are serializable: two that
/// run at the same time, in one process or in several on one database, have the same effect as one after the other.
///
/// **Every verb may be repeated.** After an unknown outcome the service reopens the store and repeats the verb. If the
/// verb had taken effect, it finds its own ids and returns the same result or refuses the repetition.
///
/// **Every verb treats a row with an invalid signature as missing**, and the store appends `row.tampered` to the audit
/// log, once for each row and start.
///
/// Times, ids, hashes and secrets are arguments. The only random values that a store generates are those of
/// ``KeyStore/keyMaterial(for:)``.
///
/// Cost: a poll of a waiting device calls no verb, because the service keeps pending codes in memory. An approval, a
/// delivery and a permit write once each.
public protocol Store: CodeStore, AuthenticationStore, PermitStore, SessionStore, ProvisioningStore,
  ClientStore, GrantStore, ClientInvitationStore, PlatformStore, KeyStore, EnrolmentStore, AuditStore,
  LoginFailureStore, MaintenanceStore, NodeStore
{}

/// Deletion of expired rows, and small texts that the service keeps across restarts.
public protocol MaintenanceStore: Sendable {
  /// Deletes up to `limit` rows that no client can need any more: codes past ``PairingFlow/forgettable``,
  /// authentications and permits that expired as long ago, ended sessions, expired invitations, clients that registered
  /// themselves (with or without a statement) and never paired within ``ClientRoom/unpairedLifetime``, old login
  /// failures, and signing keys that no valid token needs.
  ///
  /// Temporary passes: keeps the newest `passes` of them and all that still run. So a pass that is used up stays used
  /// up until that many later passes have begun. Login failures: keeps `failures` of them and deletes those with the
  /// lowest counts first, of these the oldest.
  ///
  /// - Returns: the number of deleted rows; zero when none was left to delete.
  func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int) async throws(StoreError) -> Int

  /// Writes without changing anything, to test whether the store can write.
  func tryWriting() async throws(StoreError)

  /// Replaces a node's stored text of one kind.
  ///
  /// Only the service interprets the text.
  ///
  /// A nil `node` stands for a text of the whole service.
  func keepNumbers(_ text: String, as kind: StoredCounters, of node: NodeID?) async throws(StoreError)

  /// The stored text.
  func keptNumbers(_ kind: StoredCounters, of node: NodeID?) async throws(StoreError) -> String?

  /// The stored texts of all nodes, also of nodes that no longer run.
  func keptNumbersOfNodes(_ kind: StoredCounters) async throws(StoreError) -> [NodeID: String]
}

/// The kinds of text that the service keeps across restarts.
public enum StoredCounters: String, Hashable, Sendable, CaseIterable {
  /// The counters of the present day.
  case day
  /// The time of the latest backup.
  case backup
  /// The time at which each key pair last signed a request.
  case keys
  /// Used nonces of requests whose signing time lies in the future: after a restart, the start time alone would not
  /// show that such a request is a replay.
  case nonces
  /// Used client assertions without an issue time, or with one in the future: for these the start time alone does not
  /// show a replay either.
  case assertions
  /// The last time that the service accepted as correct.
  case clock
  /// A marker that the service is running.
  ///
  /// An ordinary stop clears it, so it remains after a kill or a power cut.
  case running
}

extension MaintenanceStore {
  /// Stores a text of the whole service.
  public func keepNumbers(_ text: String, as kind: StoredCounters) async throws(StoreError) {
    try await keepNumbers(text, as: kind, of: nil)
  }

  /// The stored text of the whole service.
  public func keptNumbers(_ kind: StoredCounters) async throws(StoreError) -> String? {
    try await keptNumbers(kind, of: nil)
  }

  /// Keeps the usual number of temporary passes and login failures.
  public func forgetExpired(
    at now: Instant, limit: Int, remembering passes: Int = TemporaryPassRules.remembered
  ) async throws(StoreError) -> Int {
    try await forgetExpired(at: now, limit: limit, passes: passes, failures: LoginThrottle.remembered)
  }
}

public import RegentPairing
