public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    try await write(mayUseReserve: entry?.isOfStranger == false) { context, rows in
      guard try rows.requestor(context, client.requestor) != nil else {
        throw StoreError.notFound(what: "requestor")
      }
      guard try rows.isHonoured(context, client) else { throw StoreError.notFound(what: "application") }
      let there = try rows.oauthClient(context, client.id)
      // The client has been stored already, if this call repeats one whose outcome was unknown.
      if there?.record == client { return }
      guard there?.record == seen else { throw StoreError.changedMeanwhile(what: "client") }
      if there == nil { try SignedRows.makeRoom(context, for: client, room, at: now) }
      try rows.put(context, Tables.oauthClients, client, over: there)
      try rows.note(context, entry)
    }
  }

  public func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord? {
    try await read { context, rows in
      guard let client = try rows.oauthClient(context, id)?.record, try rows.isHonoured(context, client)
      else { return nil }
      return client
    }
  }

  public func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int)
    async throws(StoreError) -> [OAuthClientRecord]
  {
    try await read { context, rows in
      let after = id?.text ?? ""
      let sql: SQL =
        if let requestor {
          """
          \(all: Tables.oauthClients) WHERE requestor = \(requestor.text) AND id > \(after) ORDER BY id
          """
        } else {
          "\(all: Tables.oauthClients) WHERE id > \(after) ORDER BY id"
        }
      return try rows.first(limit, context, Tables.oauthClients, sql)
    }
  }

  public func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.oauthClient(context, id) != nil else { throw StoreError.notFound(what: "client") }
      let ended = try rows.endGrants(context, GrantFilter(client: id))
      try context.run("DELETE FROM oauth_client WHERE id = \(id.text)")
      try rows.note(context, entry)
      return ended
    }
  }

  public func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    let ofSignIn = Question(
      sql: "\(all: Tables.grants) WHERE authentication = \(grant.authentication.text)", table: Tables.grants.name,
      columns: ["authentication"])
    return try await write(
      mayUseReserve: true,
      asking: { [ofSignIn] + SignedRows.questions(onWhich: grant) },
      thenAsking: { context in try SignedRows.moreQuestions(context, onWhich: grant) }
    ) { context, rows in
      guard let signIn = try rows.standing(context, grant.authentication, at: now) else {
        throw StoreError.notFound(what: "authentication")
      }
      guard let client = try rows.oauthClient(context, grant.client),
        client.record.requestor == signIn.authentication.requestor, try rows.isHonoured(context, client.record)
      else { throw StoreError.notFound(what: "client") }
      let earlier = try rows.place(context, Tables.grants, ofSignIn)
      if let earlier = earlier.stored { return earlier.record }
      if earlier.isTaken {
        // The stored row fails verification. It must be deleted, because each sign-in has at most one grant row.
        try context.run("DELETE FROM oauth_grant WHERE authentication = \(grant.authentication.text)")
      }
      try rows.insert(context, Tables.grants, grant)
      if client.record.paired == nil {
        try rows.update(
          context, Tables.oauthClients, client, [(name: "paired", value: .integer(now.milliseconds))])
      }
      return grant
    }
  }

  public func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await rotate(grant, seen: nil, at: now)
  }

  /// Stores the next generation of a grant.
  ///
  /// If `seen` still is the stored version, it overwrites the row without reading it again.
  public func rotate(
    _ grant: GrantRecord, seen: GrantVersion?, at now: Instant
  ) async throws(StoreError) -> GrantRecord {
    // The values are encrypted before the transaction begins, so that other transactions do not wait for the
    // encryption.
    let values = Tables.grants.encode(grant, vault)
    return try await write(
      mayUseReserve: true,
      asking: { [Tables.grants.row(grant.id.text)] + SignedRows.questions(onWhich: grant) },
      thenAsking: { context in try SignedRows.moreQuestions(context, onWhich: grant) }
    ) { [self] context, rows in
      // The row need not be read again if it is unchanged. The counter shows that no other transaction has committed a
      // relevant change, and `movesMark` that no other operation in this batch has made one. The signature identifies
      // the version of the row, because it covers the generation.
      if let seen, standingMark == seen.mark, !context.movesMark,
        try rows.updateUnread(context, Tables.grants, values, GrantColumns.next, version: seen.signature)
      {
        return grant
      }
      guard let stored = try rows.one(context, Tables.grants, Tables.grants.row(grant.id.text)),
        try rows.standing(context, stored.record, at: now) != nil
      else { throw StoreError.notFound(what: "grant") }
      guard stored.record.generation == grant.generation - 1 else { return stored.record }
      try rows.put(context, Tables.grants, grant, over: stored)
      return grant
    }
  }

  public func prolong(_ grant: GrantRecord, at now: Instant) async throws(StoreError) {
    try await write(mayUseReserve: true, asking: { [Tables.grants.row(grant.id.text)] }) { context, rows in
      guard let stored = try rows.one(context, Tables.grants, Tables.grants.row(grant.id.text)),
        stored.record.isValid(at: now), stored.record.generation == grant.generation,
        stored.record.idle < grant.idle
      else { return }
      try rows.update(
        context, Tables.grants, stored, [(name: "idle", value: .integer(grant.idle.wholeMilliseconds))])
    }
  }

  public func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> ValidGrant? {
    let mark = standingMark
    return try await read { context, rows in
      rows.mark = mark
      guard let grant = try rows.one(context, Tables.grants, Tables.grants.row(id.text)) else { return nil }
      return try rows.standing(
        context, grant.record, at: now, version: mark.map { GrantVersion(signature: grant.signature, mark: $0) })
    }
  }

  public func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [GrantRecord]
  {
    try await read { context, rows in
      try rows.first(limit, context, Tables.grants, filter.query(after: id)) {
        filter.includes($0) && $0.isValid(at: now)
      }
    }
  }

  public func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await write(mayUseReserve: true) { context, rows in
      let ended = try rows.endGrants(context, filter)
      try rows.note(context, entry)
      return ended
    }
  }
}

extension SignedRows {
  /// Deletes a client if the requestor has no room for one more.
  ///
  /// The columns are read without verification. A forged row can only get a client deleted, which gains an attacker
  /// nothing.
  fileprivate static func makeRoom(
    _ context: borrowing WriteContext, for client: OAuthClientRecord, _ room: ClientRoom, at now: Instant
  ) throws {
    guard room.most < .max else { return }
    let (requestor, origin) = (client.requestor.text, client.origin.rawValue)
    let count: Int64? = try context.value(
      "SELECT count(*) FROM oauth_client WHERE origin = \(origin) AND requestor = \(requestor)")
    guard count ?? 0 >= Int64(room.most) else { return }
    guard let before = room.forgettingBefore,
      try context.runCounting(
        """
        DELETE FROM oauth_client WHERE \(unsafeRawSQL: Dialect.place) = (
          SELECT \(unsafeRawSQL: Dialect.place) FROM oauth_client
          WHERE origin = \(origin) AND requestor = \(requestor) AND paired IS NULL
          AND (created <= \(before.milliseconds) OR created > \(now.milliseconds)) ORDER BY created LIMIT 1)
        """) == 1
    else { throw StoreError.tooManyClients(limit: room.most) }
  }

  fileprivate func oauthClient<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: ClientID
  ) throws -> Stored<OAuthClientRecord>? {
    try shared(context, Tables.oauthClients, id.text)
  }

  /// Whether the OAuth client that requested the code still exists and is valid.
  ///
  /// If it were not, an approval would sign no client in.
  func hasClient(_ context: borrowing WriteContext, _ record: RegistrationRecord) throws -> Bool {
    guard let asked = record.about.asked else { return true }
    guard let client = try oauthClient(context, asked.client)?.record else { return false }
    return try isHonoured(context, client)
  }

  /// Whether the application whose software statement the client presented still exists and is not revoked.
  fileprivate func isHonoured<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ client: OAuthClientRecord
  ) throws -> Bool {
    guard let id = client.application else { return true }
    guard let application = try application(context, id) else { return false }
    return !application.isRevoked && application.requestor == client.requestor
  }

  fileprivate func standing<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ grant: GrantRecord, at now: Instant, version: GrantVersion? = nil
  ) throws -> ValidGrant? {
    guard grant.isValid(at: now), let client = try oauthClient(context, grant.client)?.record,
      try isHonoured(context, client), let signIn = try standing(context, grant.authentication, at: now)
    else { return nil }
    return ValidGrant(grant: grant, client: client, signIn: signIn, version: version)
  }

  /// The queries for the records that a grant depends on: its client and its sign-in.
  ///
  /// A transaction declares them in advance.
  fileprivate static func questions(onWhich grant: GrantRecord) -> [Question] {
    [Tables.oauthClients.row(grant.client.text), Tables.authentications.row(grant.authentication.text)]
  }

  /// The queries for the records that the grant's sign-in depends on.
  ///
  /// They can be declared once the sign-in's row is read.
  fileprivate static func moreQuestions(
    _ context: borrowing ReadContext, onWhich grant: GrantRecord
  ) throws -> [Question] {
    try questions(context, onWhich: Tables.authentications.row(grant.authentication.text))
  }

  func endGrants(
    _ context: borrowing WriteContext, _ filter: GrantFilter
  ) throws -> [AuthenticationRecord] {
    let grants = try first(Int.max, context, Tables.grants, filter.query(after: nil), where: filter.includes)
    var ended: [AuthenticationRecord] = []
    for grant in grants {
      if let record = try authentication(context, grant.authentication)?.record { ended.append(record) }
      try context.run("DELETE FROM oauth_grant WHERE id = \(grant.id.text)")
    }
    try endAuthentications(context, ended)
    return ended
  }
}

private enum GrantColumns {
  /// The UPDATE of the columns that change when the client exchanges its refresh token.
  static let next = Tables.grants.change(of: ["idle", "generation", "rotated", "answer"])
}

extension GrantFilter {
  /// A query that finds the candidates for this filter with an index, sorted by id.
  ///
  /// The caller checks each row against the whole filter.
  fileprivate func query(after other: GrantID?) -> SQL {
    let table = Tables.grants
    let after = other?.text ?? ""
    if let id { return "\(all: table) WHERE id = \(id.text) AND id > \(after)" }
    if let authentication {
      return "\(all: table) WHERE authentication = \(authentication.text) AND id > \(after)"
    }
    if let client { return "\(all: table) WHERE client = \(client.text) AND id > \(after) ORDER BY id" }
    return "\(all: table) WHERE id > \(after) ORDER BY id"
  }
}
