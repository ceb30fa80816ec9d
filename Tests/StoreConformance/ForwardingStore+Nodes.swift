public import PairingStore
public import RegentPairing

extension ForwardingStore {
  public var isShared: Bool { target.isShared }

  public var awaitsStandby: Bool { target.awaitsStandby }

  public func endOfChanges() async throws(StoreError) -> ChangePosition { try await target.endOfChanges() }

  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    try await target.changes(after: position, waiting: span)
  }

  public func share(_ nonces: [UsedNonce], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    target.share(nonces, told)
  }

  public func share(_ guesses: [WrongGuess], _ told: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
    target.share(guesses, told)
  }

  public func nodes() async throws(StoreError) -> [NodeRecord] { try await target.nodes() }

  public func report(_ said: String) async throws(StoreError) -> ClusterStatus { try await target.report(said) }

  public func tell(_ node: NodeID, _ instruction: NodeInstruction?) async throws(StoreError) -> Bool {
    try await target.tell(node, instruction)
  }

  public func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord] {
    try await target.registrations(ids, at: now)
  }

  public func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await target.expire(id, at: now)
  }

  public func liveCodes(at now: Instant) async throws(StoreError) -> Int { try await target.liveCodes(at: now) }

  public func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await target.registration(under: code, at: now)
  }

  public func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?
  {
    try await target.registration(of: device, at: requestor, at: now)
  }

  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  {
    try await target.take(duty, as: node, for: span, at: now)
  }
}
