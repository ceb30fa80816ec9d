public import PairingStore
public import RegentPairing
import RegentSQL

// The rest of `NodeStore` is the adapters': who writes beside us is a matter of the database.

extension RowStore {
  /// Those of these registrations that are remembered.
  public func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord] {
    try await read { context, rows in
      try rows.all(
        context, Tables.registrations, "\(all: Tables.registrations) WHERE \("id", among: ids.map(\.text))"
      ).map(\.record).filter { now < $0.flow.forgettable }
    }
  }

  /// Ends a code whose time is over.
  public func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await write(asking: { [Tables.registrations.row(id.text)] }) { context, rows in
      guard let stored = try rows.registration(context, id), now < stored.record.flow.forgettable else { return nil }
      return try rows.write(context, stored.record.flow.expiring(at: now), of: stored).record
    }
  }

  /// How many codes wait for an answer.
  public func liveCodes(at now: Instant) async throws(StoreError) -> Int {
    try await read { context, _ in
      Int(try context.value(CodeQueries.countLive(at: now)) ?? 0)
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
}
