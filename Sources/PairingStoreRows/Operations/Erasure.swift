public import PairingStore
import RegentJSON
public import RegentPairing
import RegentSQL

extension RowStore {
  public func rows(about viewer: Viewer, screen: @escaping ScreenHasher) async throws(StoreError) -> ViewerRows {
    try await read { context, rows in try rows.rows(context, about: viewer, screen) }
  }

  public func auditLines(about viewer: Viewer, after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    try await read { context, rows in
      try rows.auditLines(context, about: viewer, after: number, limit: limit).map(\.record)
    }
  }

  public func erase(
    _ viewer: Viewer, screen: @escaping ScreenHasher, audit line: AuditEntry, at now: Instant
  ) async throws(StoreError) -> ErasedRows {
    try await write(mayUseReserve: true) { context, rows in
      let found = try rows.rows(context, about: viewer, screen)
      let changes = try rows.delete(context, found, of: viewer, at: now)
      if !found.isEmpty { try rows.note(context, line) }
      return ErasedRows(rows: found, changes: changes)
    }
  }

  public func pseudonymise(
    _ viewer: Viewer, as name: AccountName, after number: Int64, limit: Int,
    audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)? {
    try await write(mayUseReserve: true) { context, rows in
      let found = try rows.auditLines(context, about: viewer, after: number, limit: limit)
      return try rows.change(context, found, noting: line) { $0.pseudonymised(viewer, as: name) }
    }
  }

  public func eraseDetails(
    ofDevices devices: Set<String>, after number: Int64, limit: Int, audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)? {
    try await write(mayUseReserve: true) { context, rows in
      let found = try rows.auditLines(context, ofDevices: devices, after: number, limit: limit)
      return try rows.change(context, found, noting: line, by: \.withoutDetail)
    }
  }
}

extension SignedRows {
  /// Changes audit lines and adds a line with their number.
  ///
  /// A changed line keeps its number and its first signature, so that the log stays verifiable.
  ///
  /// - Returns: the number of changed lines and the number of the last one; nil if there are none.
  fileprivate func change(
    _ context: borrowing WriteContext, _ lines: [Stored<NumberedAuditEntry>],
    noting line: (Int) -> AuditEntry, by change: (AuditEntry) -> AuditEntry
  ) throws -> (count: Int, last: Int64)? {
    guard let last = lines.last?.record.number else { return nil }
    for stored in lines {
      let one = stored.record
      let changed = NumberedAuditEntry(
        number: one.number, entry: change(one.entry), firstSignature: one.firstSignature ?? stored.signature)
      try put(context, Tables.audit, changed, over: stored)
    }
    try note(context, line(lines.count))
    return (lines.count, last)
  }

  fileprivate func rows<Context: Querying & ~Copyable>(
    _ context: borrowing Context, about viewer: Viewer, _ screen: ScreenHasher
  ) throws -> ViewerRows {
    var found = ViewerRows()
    guard let name = viewer.account else { return found }
    let (provider, account) = (viewer.provider.text, name.text)
    found.account = try self.account(context, viewer.provider, name)
    found.hasPassword = try one(context, Tables.passwords, Tables.passwords.row(provider, account)) != nil
    found.rules = try all(
      context, Tables.entitlements,
      "\(all: Tables.entitlements) WHERE provider = \(provider) AND account = \(account) ORDER BY id"
    ).map(\.record)
    found.sessions = try sessions(context, of: viewer)
    found.signIns = try all(
      context, Tables.authentications, AuthenticationFilter(viewer: viewer).query(after: nil)
    ).map(\.record)
    for record in found.signIns {
      let id = record.authentication.id.text
      found.permits += try all(
        context, Tables.permits, "\(all: Tables.permits) WHERE authentication = \(id) ORDER BY resource"
      ).map(\.record)
      found.grants += try all(
        context, Tables.grants, "\(all: Tables.grants) WHERE authentication = \(id) ORDER BY id"
      ).map(\.record)
      found.boxes += try all(
        context, Tables.boxes, "\(all: Tables.boxes) WHERE authentication = \(id) ORDER BY id"
      ).map(\.record)
      let place = screen(record)
      found.screenNames[place] = try one(
        context, Tables.screenNames, "\(all: Tables.screenNames) WHERE screen_hash = \(place.bytes)")?.record.name
    }
    for device in Set(found.signIns.map(\.deviceHash)) {
      found.decisions += try all(
        context, Tables.platformPermissions,
        "\(all: Tables.platformPermissions) WHERE device_hash = \(device.bytes) ORDER BY app, requestor"
      ).map(\.record)
    }
    found.codes = try all(
      context, Tables.registrations,
      "\(all: Tables.registrations) WHERE provider = \(provider) AND account = \(account) ORDER BY id"
    ).map(\.record)
    found.failures = try countedFailures(context, viewer.provider, name).map {
      ViewerRows.Failures(source: $0.source, failures: $0.row.failures)
    }
    return found
  }

  fileprivate func delete(
    _ context: borrowing WriteContext, _ found: ViewerRows, of viewer: Viewer, at now: Instant
  ) throws -> [RegistrationChange] {
    guard let name = viewer.account else { return [] }
    let (provider, account) = (viewer.provider.text, name.text)
    let changes = try endSessions(context, found.sessions, at: now)
    try endAuthentications(context, found.signIns)
    // The conditions below also delete rows that failed verification.
    try context.run("DELETE FROM session WHERE provider = \(provider) AND account = \(account)")
    try SignedRows.deleteSignIns(context, .account(provider: provider, name: account))
    for place in found.screenNames.keys {
      try context.run("DELETE FROM screen_name WHERE screen_hash = \(place.bytes)")
    }
    for device in Set(found.decisions.map(\.device)) {
      try context.run(
        """
        DELETE FROM platform_permission WHERE device_hash = \(device.bytes)
        AND NOT EXISTS (SELECT 1 FROM authentication WHERE device_hash = \(device.bytes))
        """)
      context.changed(.box(device))
    }
    try context.run("DELETE FROM registration WHERE provider = \(provider) AND account = \(account)")
    for record in found.codes { context.changed(.code(record.id)) }
    for one in try countedFailures(context, viewer.provider, name) {
      try context.run("DELETE FROM login_failure WHERE subject = \(one.row.subject)")
    }
    try context.run("DELETE FROM entitlement WHERE provider = \(provider) AND account = \(account)")
    try context.run("DELETE FROM password WHERE provider = \(provider) AND name = \(account)")
    try context.run("DELETE FROM account WHERE provider = \(provider) AND name = \(account)")
    context.changed(.provisioning)
    return changes
  }

  /// The counters of failed sign-ins under an account's name: one for all sources, and one for each source.
  private func countedFailures<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ provider: ProviderID, _ name: AccountName
  ) throws -> [(source: String?, row: CountedFailures)] {
    let ofAll = LoginSubject.account(provider, name).key(vault)
    // The key of one source ends like the key of all sources.
    let end = ofAll.dropFirst("[\"account\"".count)
    let sql: SQL = "\(all: Tables.loginFailures) WHERE \("subject", endsWith: end) ORDER BY subject"
    return try all(context, Tables.loginFailures, sql).compactMap { stored in
      let parts = (try? JSONValue(reading: Array(stored.record.subject.utf8)).texts()) ?? []
      if parts.count == 2, parts[0] == "account" { return (nil, stored.record) }
      guard parts.count == 3, parts[0] == "account-from" else { return nil }
      return (parts[1], stored.record)
    }
  }

  fileprivate func auditLines<Context: Querying & ~Copyable>(
    _ context: borrowing Context, about viewer: Viewer, after number: Int64, limit: Int
  ) throws -> [Stored<NumberedAuditEntry>] {
    var found: [Stored<NumberedAuditEntry>] = []
    guard limit > 0 else { return found }
    // The database finds candidates, which is a hundred times cheaper than verifying each line.
    let sql: SQL = """
      \(all: Tables.audit) WHERE number > \(number) AND (subject = \(viewer.title)
      OR \("actor", endsWith: AuditEntry.Actor.viewer(viewer).column.dropFirst())
      OR \("detail", contains: viewer.title)) ORDER BY number
      """
    try walk(context, Tables.audit, sql, expecting: limit) { stored in
      if stored.record.entry.names(viewer) { found.append(stored) }
      return found.count < limit
    }
    return found
  }

  fileprivate func auditLines<Context: Querying & ~Copyable>(
    _ context: borrowing Context, ofDevices devices: Set<String>, after number: Int64, limit: Int
  ) throws -> [Stored<NumberedAuditEntry>] {
    var found: [Stored<NumberedAuditEntry>] = []
    var condition: SQL = "1 = 0"
    for device in devices {
      condition = "\(part: condition) OR subject = \(device) OR \("detail", contains: device)"
    }
    guard limit > 0 else { return found }
    let sql: SQL = "\(all: Tables.audit) WHERE number > \(number) AND (\(part: condition)) ORDER BY number"
    try walk(context, Tables.audit, sql, expecting: limit) { stored in
      if stored.record.entry.isAbout(devices: devices) { found.append(stored) }
      return found.count < limit
    }
    return found
  }
}

extension SQL.StringInterpolation {
  fileprivate mutating func appendInterpolation(_ column: StaticString, endsWith text: some StringProtocol) {
    append(column, like: "%\(Self.quoted(text))")
  }

  fileprivate mutating func appendInterpolation(_ column: StaticString, contains text: some StringProtocol) {
    append(column, like: "%\(Self.quoted(text))%")
  }

  /// Writes a condition that SQLite checks without regard to the case of ASCII letters, and PostgreSQL with it.
  private mutating func append(_ column: StaticString, like pattern: String) {
    appendLiteral(column)
    appendLiteral(" LIKE ")
    appendInterpolation(pattern)
    appendLiteral(" ESCAPE '!'")
  }

  private static func quoted(_ text: some StringProtocol) -> String {
    text.reduce(into: "") { $0 += "!%_".contains($1) ? "!\($1)" : "\($1)" }
  }
}
