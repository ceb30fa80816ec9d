public import RegentPairing

/// What several nodes of one service learn from each other through the store that they share.
public protocol NodeStore: Sendable {
  /// Whether other programs write to this store while it is open. Where none does, what a node remembers is what the
  /// store has, and nobody need look.
  var isShared: Bool { get }

  /// Whether a change has waited for more than a second until it is safe elsewhere, too: none comes to its end then.
  var awaitsStandby: Bool { get }

  /// Where the log of changes ends now: what others write from here on is behind it.
  func endOfChanges() async throws(StoreError) -> ChangePosition

  /// What others wrote behind a position; where there is nothing, waits for it, `span` at most.
  ///
  /// Guarantees: a verb whose call has returned on another node is in it, and what it wrote can be read.
  func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage

  /// Tells the other nodes which nonces were used here. It need not survive anything: a nonce is worth something for
  /// minutes.
  ///
  /// `told` is called once, when others can read them or nobody else is there, on any thread; it must not block. No
  /// task waits for it: many thousand calls a second share theirs, and waking one for each batch costs a node more than
  /// the telling.
  func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void)

  /// Tells the other nodes what was guessed wrong here; a node that begins anew hears of the last ten minutes, too.
  func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void)

  /// Those of these registrations that are remembered.
  func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord]

  /// Ends a code whose time is over, before anybody is told so: another node may be approving it at this moment, by its
  /// clock in time.
  ///
  /// Guarantees: when it says "expired", nobody approves the code afterwards. A code that was approved before, or has
  /// time left, is as it was.
  ///
  /// - Returns: the registration as it is now; nothing when it is not remembered.
  func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord?

  /// The registration that has a code, if it is remembered.
  func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord?

  /// The registration that answers for a device: the one that waits, else the newest.
  func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?

  /// How many codes wait for an answer, whichever node they were asked for at.
  func liveCodes(at now: Instant) async throws(StoreError) -> Int

  /// Takes or keeps a duty for a time; of several nodes one has it.
  func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant) async throws(StoreError) -> Bool

  /// The nodes that were heard of within a day, in the order of their names; none where there is one service.
  func nodes() async throws(StoreError) -> [NodeRecord]

  /// What this node says of itself from now on.
  ///
  /// - Returns: what it has heard with its last beat.
  func report(_ said: String) async throws(StoreError) -> ClusterStatus

  /// Tells a node what operators want of it, or that they want nothing any more.
  ///
  /// - Returns: false when there is no such node.
  func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool
}

extension NodeStore {
  public var awaitsStandby: Bool { false }

  /// Tells them and waits until others, if there are any, can read them.
  public func share(_ nonces: [UsedNonce]) async throws(StoreError) {
    try await withCheckedContinuation { told in share(nonces) { told.resume(returning: $0) } }.get()
  }

  /// Tells them and waits until others can read them.
  public func share(_ guesses: [WrongGuess]) async throws(StoreError) {
    try await withCheckedContinuation { told in share(guesses) { told.resume(returning: $0) } }.get()
  }
}
