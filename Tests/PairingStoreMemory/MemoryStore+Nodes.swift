public import PairingStore
public import RegentPairing

extension MemoryStore {
  /// Adds a change to the log that other services of the test read.
  func changed(_ change: StoreChange) {
    if isShared { changes.append(change) }
  }

  private var end: ChangePosition {
    ChangePosition([0: Int64(changes.count), 1: Int64(nonces.count), 2: Int64(guesses.count)])
  }

  /// The end of the change log.
  ///
  /// Nonces and guesses are read from their beginning, because earlier ones may still count.
  public func endOfChanges() async throws(StoreError) -> ChangePosition {
    var end = end
    end.numbers[1] = 0
    end.numbers[2] = 0
    return end
  }

  /// The changes after a position, including the reader's own, because this store does not know which service made
  /// them.
  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    let (seen, known) = (Int(position.numbers[0] ?? 0), Int(position.numbers[1] ?? 0))
    let limit = ContinuousClock.now + span
    let guessed = Int(position.numbers[2] ?? 0)
    while changes.count <= seen, nonces.count <= known, guesses.count <= guessed,
      ContinuousClock.now < limit, !Task.isCancelled
    {
      try? await Task.sleep(for: .milliseconds(1))
    }
    return ChangePage(
      Set(changes.dropFirst(seen)), Array(nonces.dropFirst(known)), Array(guesses.dropFirst(guessed)), upTo: end)
  }

  public nonisolated func share(
    _ used: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    Task {
      await add(used, [])
      told(.success(()))
    }
  }

  /// Shares wrong guesses without their age, so each counts as made at the moment another service reads it.
  public nonisolated func share(
    _ wrong: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    Task {
      await add([], wrong)
      told(.success(()))
    }
  }

  private func add(_ used: [UsedNonce], _ wrong: [WrongGuess]) {
    nonces += used
    guesses += wrong
  }

  /// Always empty, because the services of a test have no node names.
  public func nodes() async throws(StoreError) -> [NodeRecord] { [] }

  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { ClusterStatus() }

  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool { false }

  public func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord] {
    ids.compactMap { registrations[$0] }.filter { now < $0.flow.forgettable }
  }

  public func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    guard let record = registrations[id], now < record.flow.forgettable else { return nil }
    let flow = record.flow.expiring(at: now).flow
    guard flow != record.flow else { return record }
    registrations[id] = record.moved(to: flow)
    changed(.code(id))
    return registrations[id]
  }

  public func liveCodes(at now: Instant) async throws(StoreError) -> Int {
    registrations.values.count { $0.flow.settled(at: now).state.isPending }
  }

  public func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    codes[code].flatMap { registrations[$0] }.flatMap { now < $0.flow.forgettable ? $0 : nil }
  }

  /// The device's pending registration, or else its newest one.
  public func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?
  {
    registrations.values.filter {
      $0.deviceHash == device && $0.requestor == requestor && now < $0.flow.forgettable
    }.answering(at: now)
  }

  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  {
    if let holder = duties[duty], holder.node != node, now < holder.until { return false }
    duties[duty] = (node, now + span)
    return true
  }
}
