public import RegentPairing

/// The part of the store through which the nodes of one service (processes on one database) tell each other of changes.
public protocol NodeStore: Sendable {
  /// Whether other processes write to this store while it is open.
  ///
  /// If none does, a node can rely on its own memory instead of reading again.
  var isShared: Bool { get }

  /// Whether the database has waited for more than a second for a standby to confirm a change.
  ///
  /// While it waits, no change completes.
  var awaitsStandby: Bool { get }

  /// The present end of the change log.
  ///
  /// Later changes by other nodes come after this position.
  func endOfChanges() async throws(StoreError) -> ChangePosition

  /// The changes by other nodes after a position in the change log.
  ///
  /// When there are none, it waits for one, up to `span`.
  ///
  /// Guarantees: if a store operation has returned on another node, its changes are in the result or came before the
  /// position, and what it wrote can be read.
  func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage

  /// Tells the other nodes which nonces of signed requests this node has accepted.
  ///
  /// The nonces need not survive a crash of the database, because they matter only for minutes.
  ///
  /// `told` is called once, on any thread, when other nodes can read the nonces or when there is no other node. It must
  /// not block. It is a callback because many thousand requests a second share one batch, and waking a task for each
  /// request costs a node more than the sharing itself.
  func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void)

  /// Tells the other nodes about wrong guesses of secrets at this node.
  ///
  /// A node that starts also gets the guesses of the last ten minutes.
  func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void)

  /// Reads the registrations with these ids; omits those that are no longer stored.
  func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord]

  /// Expires a code in the store before the service tells a client that the code has expired.
  ///
  /// Another node, whose clock may be behind, could be approving the code at this moment.
  ///
  /// Guarantees: when the result is "expired", the code cannot be approved afterwards. A code that was approved before,
  /// or has time left, is unchanged.
  ///
  /// - Returns: the registration as it is now; nil when it is not stored any more.
  func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord?

  /// Reads the registration that has this code; nil when none is stored.
  func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord?

  /// Of a device's registrations, the one that determines the response to the device: its pending one, else its newest.
  func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?

  /// The number of pending registration codes of all nodes together.
  func liveCodes(at now: Instant) async throws(StoreError) -> Int

  /// Assigns a duty (a task that one node performs for the cluster) to this node for a time, or extends that time.
  ///
  /// One node at a time has a duty.
  ///
  /// - Returns: whether this node has the duty.
  func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant) async throws(StoreError) -> Bool

  /// The nodes that reported within the last day, sorted by name; empty for a store with a single process.
  func nodes() async throws(StoreError) -> [NodeRecord]

  /// Stores the report in which this node states its condition to the other nodes.
  ///
  /// - Returns: the state of the cluster as of the last heartbeat.
  func report(_ said: String) async throws(StoreError) -> ClusterStatus

  /// Stores an operator's instruction for a node; nil withdraws it.
  ///
  /// - Returns: false when there is no such node.
  func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool
}

extension NodeStore {
  public var awaitsStandby: Bool { false }

  /// Tells the other nodes which nonces this node has accepted, and waits until they can read them.
  public func share(_ nonces: [UsedNonce]) async throws(StoreError) {
    try await withCheckedContinuation { told in share(nonces) { told.resume(returning: $0) } }.get()
  }

  /// Tells the other nodes about wrong guesses at this node, and waits until they can read them.
  public func share(_ guesses: [WrongGuess]) async throws(StoreError) {
    try await withCheckedContinuation { told in share(guesses) { told.resume(returning: $0) } }.get()
  }
}
