public import PairingStore
public import RegentPairing

extension ForwardingStore {
  public func rows(about viewer: Viewer, screen: @escaping ScreenHasher) async throws(StoreError) -> ViewerRows {
    try await target.rows(about: viewer, screen: screen)
  }

  public func auditLines(about viewer: Viewer, after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    try await target.auditLines(about: viewer, after: number, limit: limit)
  }

  public func erase(
    _ viewer: Viewer, screen: @escaping ScreenHasher, audit line: AuditEntry, at now: Instant
  ) async throws(StoreError) -> ErasedRows {
    try await target.erase(viewer, screen: screen, audit: line, at: now)
  }

  public func pseudonymise(
    _ viewer: Viewer, as name: AccountName, after number: Int64, limit: Int,
    audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)? {
    try await target.pseudonymise(viewer, as: name, after: number, limit: limit, audit: line)
  }

  public func eraseDetails(
    ofDevices devices: Set<String>, after number: Int64, limit: Int, audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)? {
    try await target.eraseDetails(ofDevices: devices, after: number, limit: limit, audit: line)
  }
}
