public import PairingStore
public import RegentPairing
import RegentSQL

// The other functions of `NodeStore` are in the adapters, because they depend on whether other processes share the
// database.

extension RowStore {
  public func registrations(_ ids: [RegistrationID], at now: Instant) async throws(StoreError) -> [RegistrationRecord] {
    try await read { context, rows in
      try rows.all(
        context, Tables.registrations, "\(all: Tables.registrations) WHERE \("id", among: ids.map(\.text))"
      ).map(\.record).filter { now < $0.flow.forgettable }
    }
  }

  public func expire(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await write(mayUseReserve: true, asking: { [Tables.registrations.row(id.text)] }) { context, rows in
      guard let stored = try rows.registration(context, id), now < stored.record.flow.forgettable else { return nil }
      return try rows.write(context, stored.record.flow.expiring(at: now), of: stored).record
    }
  }

  public func liveCodes(at now: Instant) async throws(StoreError) -> Int {
    try await read { context, _ in
      Int(try context.value(CodeQueries.countLive(at: now)) ?? 0)
    }
  }

  public func registration(under code: CodeHash, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await read { context, rows in
      let record = try rows.one(
        context, Tables.registrations, "\(all: Tables.registrations) WHERE code = \(code.bytes)")?.record
      return record.flatMap { now < $0.flow.forgettable ? $0 : nil }
    }
  }

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
