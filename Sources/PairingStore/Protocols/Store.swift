/// The persistent state of the service.
///
/// A store operation is one function of these protocols.
///
/// **Every operation that writes is one transaction.** It checks the state that it expects inside that transaction, and
/// either does everything it promises, or throws and has changed nothing (except with
/// ``StoreError/unknownOutcome(reason:)``). When it returns, its changes are durable. Operations are serializable: two
/// that run at the same time, in one process or in several on one database, have the same effect as one after the
/// other.
///
/// **Every operation may be repeated.** After an unknown outcome the service reopens the store and repeats the
/// operation. If the first call had taken effect, the second one finds the ids that the first one wrote, and returns
/// the same result or refuses the repetition.
///
/// **Every operation treats a row with an invalid signature as missing**, and the store appends `row.tampered` to the
/// audit log, once for each row and start.
///
/// Times, ids, hashes and secrets are arguments. The only random values that a store generates are those of
/// ``KeyStore/keyMaterial(for:)``.
///
/// Cost: a poll of a waiting device calls no operation, because the service keeps pending codes in memory. An approval,
/// a delivery and a permit write once each.
public protocol Store: CodeStore, AuthenticationStore, PermitStore, SessionStore, ProvisioningStore,
  ClientStore, GrantStore, ClientInvitationStore, PlatformStore, KeyStore, EnrolmentStore, AuditStore,
  LoginFailureStore, ErasureStore, MaintenanceStore, NodeStore
{}

/// The part of the store that deletes expired rows, and keeps small texts of the service across restarts.
public protocol MaintenanceStore: Sendable {
  /// Deletes up to `limit` rows that no client can need any more.
  ///
  /// These are codes past ``PairingFlow/forgettable``, authentications and permits that expired as long ago, ended
  /// sessions, expired invitations, clients that registered themselves (with or without a statement) and never paired
  /// within ``ClientRoom/unpairedLifetime``, old login failures, and signing keys that no valid token needs.
  ///
  /// Temporary passes: keeps the newest `passes` of them and all that have not ended. A pass that is used up therefore
  /// stays used up until that many later passes have begun. Login failures: keeps `failures` of them. It deletes those
  /// with the lowest counts first, and of equal counts the oldest.
  ///
  /// - Returns: the number of deleted rows; zero when none was left to delete.
  func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int) async throws(StoreError) -> Int

  /// Tests whether the store can write, without changing any data.
  func tryWriting() async throws(StoreError)

  /// Replaces a stored text (such as counters) of one kind and node.
  ///
  /// Only the service interprets the text. A nil `node` stands for the whole service.
  func keepNumbers(_ text: String, as kind: StoredCounters, of node: NodeID?) async throws(StoreError)

  /// Reads the stored text (such as counters) of one kind and node; a nil `node` stands for the whole service.
  func keptNumbers(_ kind: StoredCounters, of node: NodeID?) async throws(StoreError) -> String?

  /// Reads the stored texts of one kind for all nodes, including nodes that no longer run.
  func keptNumbersOfNodes(_ kind: StoredCounters) async throws(StoreError) -> [NodeID: String]
}

/// The kinds of text that the service stores to keep across restarts.
public enum StoredCounters: String, Hashable, Sendable, CaseIterable {
  /// The stored text holds the counters of the present day.
  case day
  /// The stored text holds the time of the latest backup.
  case backup
  /// The stored text holds the time at which each key pair last signed a request.
  case keys
  /// The stored text holds used nonces of requests whose signing time lies in the future.
  ///
  /// Other nonces need not be stored: a replay of a request from before the start is recognised by its signing time.
  case nonces
  /// The stored text holds used client assertions without an issue time, or with one in the future.
  ///
  /// Other assertions need not be stored: a replay from before the start is recognised by its issue time.
  case assertions
  /// The stored text holds the last time that the service accepted as correct.
  case clock
  /// The stored text marks that the service is running.
  ///
  /// An ordinary stop clears it, so it remains after a kill or a power cut.
  case running
}

extension MaintenanceStore {
  /// Replaces a stored text (such as counters) that belongs to the whole service.
  public func keepNumbers(_ text: String, as kind: StoredCounters) async throws(StoreError) {
    try await keepNumbers(text, as: kind, of: nil)
  }

  /// Reads a stored text (such as counters) that belongs to the whole service.
  public func keptNumbers(_ kind: StoredCounters) async throws(StoreError) -> String? {
    try await keptNumbers(kind, of: nil)
  }

  /// Deletes expired rows, and keeps at most the default numbers of temporary passes and login failures.
  public func forgetExpired(
    at now: Instant, limit: Int, remembering passes: Int = TemporaryPassRules.remembered
  ) async throws(StoreError) -> Int {
    try await forgetExpired(at: now, limit: limit, passes: passes, failures: LoginThrottle.remembered)
  }
}

public import RegentPairing
