import RegentCryptography
internal import RegentEncodings
public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup
  {
    try await read { context, rows in
      // A permit is valid only with its authentication. If the authentication's row fails verification, the permit must
      // not be used.
      guard try rows.authentication(context, authentication) != nil,
        let permit = try rows.permit(context, authentication, resource)?.record.permit
      else { return .none }
      return permit.isValid(at: now) ? .inForce(permit) : .expired
    }
  }

  public func record(_ permit: Permit, keeping most: Int, at now: Instant) async throws(StoreError) -> Permit {
    let good = try await read { context, rows -> Permit? in
      _ = try rows.usable(context, permit.authentication, at: now)
      let existing = try rows.permit(context, permit.authentication, permit.resource)?.record
      return Permit.isWorthWriting(over: existing?.permit, at: now) ? nil : existing?.permit
    }
    if let good { return good }
    return try await write { context, rows in
      let record = try rows.usable(context, permit.authentication, at: now).record
      return try rows.keep(context, permit, of: record, among: most, at: now)
    }
  }

  public func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, keeping most: Int, at now: Instant
  ) async throws(StoreError) -> Permit {
    try await write { context, rows in
      let stored = try rows.usable(context, authentication, at: now)
      let record = stored.record
      let requestor = record.authentication.requestor
      let provider = record.authentication.viewer.provider
      guard let rules = try rows.provider(context, provider)?.temporaryPass else {
        throw StoreError.notFound(what: "temporary pass")
      }
      let before = try rows.use(context, requestor, provider, record.deviceHash, record.identity)
      let after: TemporaryPassUse
      do throws(TemporaryPassRefusal) {
        after = try rules.opening(resource.stored, before, at: now)
      } catch {
        throw StoreError.pass(error)
      }
      try rows.keep(
        context, Tables.passes,
        TemporaryPassRecord(
          requestor: requestor, provider: provider, device: record.deviceHash,
          identity: record.identity, use: after))
      let ending = record.ending(at: rules.expires(after, at: now))
      let expires = ending.authentication.expires
      if ending != record {
        try rows.update(
          context, Tables.authentications, stored,
          [(name: "expires", value: .integer(expires.milliseconds))])
      }
      let permit = Permit(
        authentication: authentication, resource: resource, issued: now, expires: expires)
      return try rows.keep(context, permit, of: ending, among: most, at: now)
    }
  }

  public func temporaryPass(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) async throws(StoreError) -> TemporaryPassUse {
    try await read { context, rows in
      try rows.use(context, requestor, provider, device, identity)
    }
  }

  public func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord] {
    try await read { context, rows in
      try rows.first(
        limit, context, Tables.passes,
        """
        \(all: Tables.passes) WHERE (requestor, provider, device_hash, identity) >
        (\(last?.requestor.text ?? ""), \(last?.provider.text ?? ""), \(last?.device.bytes ?? []),
        \(last?.identity?.bytes ?? []))
        AND requestor = coalesce(\(requestor.column), requestor)
        AND provider = coalesce(\(provider.column), provider)
        ORDER BY requestor, provider, device_hash, identity
        """)
    }
  }

  public func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int {
    try await write(mayUseReserve: true) { context, rows in
      let (owner, place) = (requestor.text, provider.text)
      var filter = AuthenticationFilter(requestor: requestor)
      var identity: IdentityHash?
      let begun: Int
      switch whose {
      case .device(let device):
        filter.device = device
        begun = try context.runCounting(
          """
          DELETE FROM temporary_pass WHERE requestor = \(owner) AND provider = \(place)
          AND device_hash = \(device.bytes)
          """)
      case .identity(let one):
        identity = one
        begun = try context.runCounting(
          """
          DELETE FROM temporary_pass WHERE requestor = \(owner) AND provider = \(place)
          AND identity = \(one.bytes)
          """)
      case .all:
        begun = try context.runCounting(
          "DELETE FROM temporary_pass WHERE requestor = \(owner) AND provider = \(place)")
      }
      let (meant, whom) = (filter, identity)
      let ended = try rows.first(
        Int.max, context, Tables.authentications,
        "\(all: Tables.authentications) WHERE provider = \(place) AND requestor = \(owner)"
      ) { record in
        meant.includes(record) && record.authentication.source == .temporary
          && (whom == nil || whom == record.identity)
      }
      try rows.endAuthentications(context, ended)
      try rows.note(context, entry)
      return begun
    }
  }
}

extension SignedRows {
  fileprivate func permit<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ authentication: AuthenticationID, _ resource: ResourceID
  ) throws -> Stored<PermitRecord>? {
    func row(_ name: String) throws -> Stored<PermitRecord>? {
      try one(context, Tables.permits, Tables.permits.row(authentication.text, name))
    }
    let name = PermitRow.name(of: resource)
    guard let row = try row(name) ?? PermitRow.earlierName(of: resource, besides: name).flatMap(row) else { return nil }
    // The row of a permit may contain a hash of the resource, so the permit gets the resource itself from the caller.
    let permit = row.record.permit
    let whole = Permit(
      authentication: permit.authentication, resource: resource, issued: permit.issued, expires: permit.expires)
    return Stored(
      record: PermitRecord(permit: whole, rowKey: row.record.rowKey), values: row.values, signature: row.signature)
  }

  fileprivate func usable<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: AuthenticationID, at now: Instant
  ) throws -> Stored<AuthenticationRecord> {
    guard let stored = try authentication(context, id) else {
      throw StoreError.notFound(what: "authentication")
    }
    guard stored.record.authentication.isValid(at: now) else {
      throw StoreError.notInForce(.expired)
    }
    return stored
  }

  fileprivate func keep(
    _ context: borrowing WriteContext, _ permit: Permit, of record: AuthenticationRecord,
    among most: Int, at now: Instant
  ) throws -> Permit {
    let existing = try self.permit(context, permit.authentication, permit.resource)
    if let existing, !Permit.isWorthWriting(over: existing.record.permit, at: now) {
      return existing.record.permit
    }
    let bounded = Permit(
      authentication: permit.authentication, resource: permit.resource, issued: permit.issued,
      expires: min(permit.expires, record.authentication.expires))
    if existing == nil { try makeRoom(context, for: permit.authentication, among: most, at: now) }
    try put(
      context, Tables.permits, PermitRecord(permit: bounded, rowKey: record.rowKey), over: existing)
    return bounded
  }

  /// Deletes the oldest permits of a sign-in that has reached its limit.
  ///
  /// Permits with a time in the future were written while the clock was ahead. They are deleted first: they would never
  /// be the oldest, so each new permit would delete the previous new one.
  private func makeRoom(
    _ context: borrowing WriteContext, for authentication: AuthenticationID, among most: Int, at now: Instant
  ) throws {
    let id = authentication.text
    let count: Int64 = try context.value("SELECT count(*) FROM permit WHERE authentication = \(id)") ?? 0
    let surplus = count - Int64(max(most, 1)) + 1
    guard surplus > 0 else { return }
    try context.run(
      """
      DELETE FROM permit WHERE \(unsafeRawSQL: Dialect.place) IN
      (SELECT \(unsafeRawSQL: Dialect.place) FROM permit WHERE authentication = \(id)
      ORDER BY CASE WHEN issued > \(now.milliseconds) THEN 0 ELSE 1 END, issued LIMIT \(surplus))
      """)
  }
}

/// How the row of a permit names its resource.
enum PermitRow {
  /// The length up to which version 0.1.0 stored a resource's name unchanged, in bytes.
  private static let earlierLongest = 1_024

  /// The name of a resource in a permit row.
  static func name(of resource: ResourceID) -> String { resource.stored.text }

  /// The resource's name in permit rows of an earlier version; nil when it is the same as now.
  static func earlierName(of resource: ResourceID, besides name: String) -> String? {
    let text = resource.text
    return text.utf8.count <= earlierLongest && !resource.isMarked && text != name ? text : nil
  }
}
