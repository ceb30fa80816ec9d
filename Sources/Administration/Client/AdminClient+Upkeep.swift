import RegentHTTPCodec
import RegentJSON
import RegentPairing

/// Encodes text that an operator typed as one segment of a path.
///
/// Text that cannot be one segment becomes `-`, which matches no record. It can therefore not address another resource.
func segment(_ text: String) -> String {
  let isPath = text.isEmpty || text == "." || text == ".." || text.utf8.contains(0x2F)
  return isPath ? "-" : PercentEncoding.component(text)
}

extension AdminClient {
  /// The version, start and public address of the running service.
  public func service() async throws(AdminError) -> ServiceInfo {
    try await document(.get, AdminPaths.service)
  }

  /// Reads entries of the audit log after the given number, oldest first.
  ///
  /// Use 0 for the beginning. A call returns at most ``AdminPaths/page`` entries.
  public func audit(after number: Int64, limit: Int = AdminPaths.page)
    async throws(AdminError) -> [AuditLine]
  {
    try await list(AdminPaths.audit, query: [("after", String(number)), ("limit", String(limit))])
  }

  /// The number of the newest audit entry.
  public func newestAuditNumber() async throws(AdminError) -> Int64 {
    let tally: CountDocument = try await document(.get, AdminPaths.newestAudit)
    return Int64(tally.count)
  }

  /// The statistics of today.
  public func stats() async throws(AdminError) -> Stats {
    try await document(.get, AdminPaths.stats)
  }

  /// The findings of the service's own checks.
  public func doctor() async throws(AdminError) -> [Finding] {
    try await list(AdminPaths.doctor)
  }

  /// Makes the service copy its database and verify the copy.
  public func makeBackup() async throws(AdminError) -> BackupEntry {
    try await document(.post, AdminPaths.backups)
  }

  /// Reads up to ``AdminPaths/backupPart`` bytes of the service's copy of its database; empty beyond its end.
  public func backupPart(_ id: String, from offset: Int64) async throws(AdminError) -> [UInt8] {
    try await send(
      .get, AdminPaths.one(AdminPaths.backups, segment(id)), [("offset", String(offset))])
  }

  /// Makes the service delete its copy of the database.
  ///
  /// `wasKept` says that the caller has saved the whole copy. `doctor` then counts it as the last backup.
  public func dropBackup(_ id: String, wasKept: Bool) async throws(AdminError) {
    try await act(
      .delete, AdminPaths.one(AdminPaths.backups, segment(id)), query: [("kept", wasKept ? "true" : nil)])
  }
}
