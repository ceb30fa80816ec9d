public import RegentPairing

/// What the nodes of one service tell each other through the database that they share.
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
  /// Later changes by other nodes lie behind this position.
  func endOfChanges() async throws(StoreError) -> ChangePosition

  /// The changes by other nodes behind a position.
  ///
  /// When there are none, waits for one, up to `span`.
  ///
  /// Guarantees: a verb that has returned on another node is contained, and what it wrote can be read.
  func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage

  /// Tells the other nodes which nonces were accepted here.
  ///
  /// Durability is not needed, because a nonce matters only for minutes.
  ///
  /// `told` is called once, on any thread, when other nodes can read the nonces or there is no other node. It must not
  /// block. It is a callback because many thousand requests a second share one batch, and waking a task for each batch
  /// costs a node more than the sharing itself.
  func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void)

  /// Tells the other nodes about wrong guesses here.
  ///
  /// A node that starts also gets those of the last ten minutes.
  func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void)

  /// Those of these registrations that are still stored.
  func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord]

  /// Expires a code before a client is told that it has expired.
  ///
  /// Another node, whose clock may be behind, could be approving the code at this moment.
  ///
  /// Guarantees: when the result is "expired", the code cannot be approved afterwards. A code that was approved before,
  /// or has time left, is unchanged.
  ///
  /// - Returns: the registration as it is now; nil when it is not stored any more.
  func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord?

  /// The stored registration with this code.
  func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord?

  /// The registration that determines the response to a device: its pending one, else its newest.
  func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?

  /// The number of pending codes, of all nodes together.
  func liveCodes(at now: Instant) async throws(StoreError) -> Int

  /// Takes or keeps a duty for a time.
  ///
  /// One node at a time has it.
  ///
  /// - Returns: whether this node has the duty.
  func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant) async throws(StoreError) -> Bool

  /// The nodes that reported within the last day, sorted by name; empty for a store with a single process.
  func nodes() async throws(StoreError) -> [NodeRecord]

  /// Sets the report of this node.
  ///
  /// - Returns: the state of the cluster as of the last heartbeat.
  func report(_ said: String) async throws(StoreError) -> ClusterStatus

  /// Gives a node an instruction of the operators, or withdraws it with nil.
  ///
  /// - Returns: false when there is no such node.
  func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool
}

extension NodeStore {
  public var awaitsStandby: Bool { false }

  /// Tells the other nodes, and waits until they can read it.
  public func share(_ nonces: [UsedNonce]) async throws(StoreError) {
    try await withCheckedContinuation { told in share(nonces) { told.resume(returning: $0) } }.get()
  }

  /// Tells the other nodes, and waits until they can read it.
  public func share(_ guesses: [WrongGuess]) async throws(StoreError) {
    try await withCheckedContinuation { told in share(guesses) { told.resume(returning: $0) } }.get()
  }
}
