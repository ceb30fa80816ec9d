import RegentHTTPCodec
import RegentJSON
import RegentPairing

// The audit log, numbers, backups, checks.

/// What somebody typed as one segment of a path: what cannot be one names nothing and must not name something else.
func segment(_ text: String) -> String {
  let isPath = text.isEmpty || text == "." || text == ".." || text.utf8.contains(0x2F)
  return isPath ? "-" : PercentEncoding.component(text)
}

extension AdminClient {
  /// What the service says of itself.
  public func service() async throws(AdminError) -> ServiceInfo {
    try await document(.get, AdminPaths.service)
  }

  /// Lines of the audit log, oldest first.
  ///
  /// Those behind the last one that is known, from the beginning with 0; at most ``AdminPaths/page`` at once.
  public func audit(after number: Int64, limit: Int = AdminPaths.page)
    async throws(AdminError) -> [AuditLine]
  {
    try await list(AdminPaths.audit, query: [("after", String(number)), ("limit", String(limit))])
  }

  /// The number of the newest line.
  public func newestAuditNumber() async throws(AdminError) -> Int64 {
    let tally: Tally = try await document(.get, AdminPaths.newestAudit)
    return Int64(tally.count)
  }

  /// Today's numbers.
  public func stats() async throws(AdminError) -> Stats {
    try await document(.get, AdminPaths.stats)
  }

  /// What the service's own checks find.
  public func doctor() async throws(AdminError) -> [Finding] {
    try await list(AdminPaths.doctor)
  }

  /// Has the service copy its database and check the copy.
  public func makeBackup() async throws(AdminError) -> BackupEntry {
    try await document(.post, AdminPaths.backups)
  }

  /// A part of a copy, at most ``AdminPaths/backupPart`` bytes; empty behind its end.
  public func backupPart(_ id: String, from offset: Int64) async throws(AdminError) -> [UInt8] {
    try await send(
      .get, AdminPaths.one(AdminPaths.backups, segment(id)), [("offset", String(offset))])
  }

  /// Has the service forget a copy.
  ///
  /// One that was kept, whole and on a disk, is the last backup that `doctor` knows.
  public func dropBackup(_ id: String, wasKept: Bool) async throws(AdminError) {
    try await act(
      .delete, AdminPaths.one(AdminPaths.backups, segment(id)), query: [("kept", wasKept ? "true" : nil)])
  }
}
