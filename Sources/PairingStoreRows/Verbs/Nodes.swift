public import PairingStore
public import RegentPairing
import RegentSQL

// One service at a time has the database: there is nobody to learn from, and no duty to share.

extension RowStore {
  /// Never: a second service is kept out.
  public var isShared: Bool { false }

  /// Nobody else writes.
  public func endOfChanges() async throws(StoreError) -> ChangePosition { ChangePosition() }

  /// Nobody else writes.
  public func changes(after position: ChangePosition, waiting span: Duration) async throws(StoreError) -> ChangePage {
    try? await Task.sleep(for: span)
    return ChangePage([], upTo: position)
  }

  /// There is nobody to tell.
  public func share(_ nonces: [UsedNonce]) async throws(StoreError) {}

  /// Those of these registrations that are remembered.
  public func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord] {
    try await read { context, rows in
      try ids.compactMap { try rows.registration(context, $0)?.record }.filter { now < $0.flow.forgettable }
    }
  }

  /// The registration that has a code.
  public func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await read { context, rows in
      let record = try rows.one(
        context, Tables.registrations, "\(all: Tables.registrations) WHERE code = \(code.bytes)")?.record
      return record.flatMap { now < $0.flow.forgettable ? $0 : nil }
    }
  }

  /// The registration that answers for a device.
  public func registration(of device: DeviceHash, at requestor: RequestorID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?
  {
    try await read { context, rows in
      let own = try rows.all(
        context, Tables.registrations,
        "\(all: Tables.registrations) WHERE device_hash = \(device.bytes) AND requestor = \(requestor.text)"
      ).map(\.record).filter { now < $0.flow.forgettable }
      return own.answering(at: now)
    }
  }

  /// There is nobody to share it with.
  public func take(_ duty: NodeDuty, as node: NodeID, for span: Duration, at now: Instant)
    async throws(StoreError) -> Bool
  { true }
}
