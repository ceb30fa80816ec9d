import PairingStore
import RegentPairing

extension PlantedStore {
  var isShared: Bool { base.isShared }

  func endOfChanges() async throws(StoreError) -> ChangePosition { try await base.endOfChanges() }

  func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    try await base.changes(after: position, waiting: span)
  }

  func share(_ nonces: [UsedNonce]) async throws(StoreError) { try await base.share(nonces) }

  func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord] {
    try await base.registrations(ids, at: now)
  }

  func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await base.registration(under: code, at: now)
  }

  func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?
  {
    try await base.registration(of: device, at: requestor, at: now)
  }

  func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  {
    try await base.take(duty, as: node, for: span, at: now)
  }
}
