public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func reserve(_ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant)
    async throws(StoreError) -> Reservation
  {
    try await write(asking: {
      [
        Tables.requestors.row(record.requestor.text), Tables.keyPairs.row(record.rowKey.text),
        SignedRows.question(of: record.deviceHash, at: record.requestor),
        CodeQueries.question(of: record.deviceHash, at: record.requestor),
      ]
    }) { [liveCodes] context, rows in
      var record = record
      guard try rows.one(context, Tables.requestors, Tables.requestors.row(record.requestor.text)) != nil
      else { throw StoreError.notFound(what: "requestor") }
      guard let pair = try rows.pair(context, record.rowKey),
        pair.record.requestor == record.requestor, pair.record.purpose == .rows,
        pair.record.state == .active
      else { throw StoreError.notFound(what: "row key") }
      rows.use(pair)
      var (hasEarlierSignIn, earlier, isLeft) = try rows.earlier(context, record, at: now)
      if isLeft {
        record = record.separated
        (hasEarlierSignIn, earlier, _) = try rows.earlier(context, record, at: now)
      }
      let request = LiveCodeRequest(record.requestor, limits, freed: earlier.count, at: now)
      let exceeded = try liveCodes.take(request, in: context)
      // Id and code are nearly always unused, so the row is inserted without a query first. A conflict shows that one
      // of them is in use.
      if try exceeded != nil || !rows.insertNew(context, Tables.registrations, record) {
        if try rows.isThere(context, record, at: now) {
          return Reservation(withdrawn: [], hasEarlierSignIn: hasEarlierSignIn, record: record)
        }
        if let exceeded { throw StoreError.tooManyLiveCodes(limit: exceeded) }
        try rows.insert(context, Tables.registrations, record)
      }
      context.changed(.code(record.id))
      let withdrawn = try earlier.map {
        try rows.apply(context, .withdraw(.newerCode), to: $0, at: now)
      }
      return Reservation(withdrawn: withdrawn, hasEarlierSignIn: hasEarlierSignIn, record: record)
    }
  }

  public func open(_ id: RegistrationID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await write(mayUseReserve: true, asking: { [Tables.registrations.row(id.text)] }) { context, rows in
      try rows.apply(context, .open, to: rows.required(context, id), at: now)
    }
  }

  public func claim(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await write(
      mayUseReserve: true, asking: { [Tables.sessions.row(session.text), Tables.registrations.row(id.text)] }
    ) {
      context, rows in
      let viewer = try rows.liveSession(context, session, at: now).record.viewer
      return try rows.apply(
        context, .claim(Claimer(session: session, viewer: viewer)),
        to: rows.required(context, id), at: now)
    }
  }

  public func renew(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await write(
      mayUseReserve: true, asking: { [Tables.sessions.row(session.text), Tables.registrations.row(id.text)] }
    ) {
      context, rows in
      _ = try rows.liveSession(context, session, at: now)
      return try rows.apply(context, .renew(session), to: rows.required(context, id), at: now)
    }
  }

  public func release(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await write(mayUseReserve: true, asking: { [Tables.registrations.row(id.text)] }) { context, rows in
      try rows.apply(context, .release(session), to: rows.required(context, id), at: now)
    }
  }

  public func approve(
    _ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> ApprovalResult {
    let (code, new) = (Tables.registrations.row(id.text), Tables.authentications.row(request.authentication.text))
    let session: Question? =
      if case .session(let session, _) = request.by { Tables.sessions.row(session.text) } else { nil }
    // Disk space for operators is reserved: an approval by a viewer fails when only the reserve is left, and one by an
    // operator does not.
    return try await write(
      mayUseReserve: session == nil,
      asking: { [code, new] + (session.map { [$0] } ?? []) + (entry == nil ? [] : SignedRows.auditQuestions) },
      thenAsking: { context in
        let names = ["requestor", "device_hash", "public_key"]
        guard let found = try Tables.registrations.unverified(context, code, names) else { return [] }
        let viewer: [SQLValue]? =
          switch request.by {
          case .operator(_, let viewer): [.text(viewer.provider.text), viewer.account.column]
          case .session: try session.flatMap { try Tables.sessions.unverified(context, $0, ["provider", "account"]) }
          }
        return SignedRows.questions(
          ofSignInAt: viewer?[0] ?? .null, account: viewer?[1] ?? .null, requestor: found[0], rowKey: found[2])
          + [SignedRows.question(of: found[1], at: found[0])]
      }
    ) { context, rows in
      let stored = try rows.required(context, id)
      let event: PairingEvent
      switch request.by {
      case .session(let session, let picked):
        _ = try rows.liveSession(context, session, at: now)
        event = .approve(session, picked: picked, as: request.authentication)
      case .operator(let name, let viewer):
        event = .approveByOperator(name, for: viewer, as: request.authentication)
      }
      // The event fails if the code was approved before.
      let step = try rows.step(event, of: stored.record, at: now)
      // Nil if the viewer typed a wrong number: the code is then denied, and no authentication is made.
      var authentication: AuthenticationRecord?
      if let approval = step.flow.state.approval {
        guard try rows.authentication(context, approval.authentication) == nil else {
          throw StoreError.changedMeanwhile(what: "authentication")
        }
        let record = stored.record
        guard try rows.hasClient(context, record) else { throw StoreError.refused(.withdrawn) }
        let place = try rows.place(context, record.requestor, record.deviceHash, record.about, at: now)
        let standing = try rows.signInContext(
          context, approval.viewer, record.requestor, rowKey: record.rowKey, device: place.device, identity: nil)
        let made = try record.authentication(for: approval, in: standing, at: now).stored(under: place.device)
        try rows.keep(context, made, place)
        authentication = made
      }
      let change = try rows.write(context, step, of: stored)
      try rows.note(context, entry)
      return ApprovalResult(change: change, authentication: authentication)
    }
  }

  public func deny(
    _ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange {
    try await write(
      mayUseReserve: true, asking: { [Tables.sessions.row(session.text), Tables.registrations.row(id.text)] }
    ) {
      context, rows in
      _ = try rows.liveSession(context, session, at: now)
      let change = try rows.apply(
        context, .deny(session), to: rows.required(context, id), at: now)
      try rows.note(context, entry)
      return change
    }
  }

  public func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange {
    try await write(mayUseReserve: true, asking: { [Tables.registrations.row(id.text)] }) { context, rows in
      let change = try rows.apply(
        context, .withdraw(reason), to: rows.required(context, id), at: now)
      try rows.note(context, entry)
      return change
    }
  }

  public func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, _ in
      for id in ids {
        try context.run("DELETE FROM registration WHERE id = \(id.text)")
        context.changed(.code(id))
      }
    }
  }

  public func registration(_ id: RegistrationID, at now: Instant) async throws(StoreError)
    -> RegistrationRecord?
  {
    try await read { context, rows in
      let record = try rows.registration(context, id)?.record
      return record.flatMap { now < $0.flow.forgettable ? $0 : nil }
    }
  }

  public func registrations(after id: RegistrationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [RegistrationRecord]
  {
    try await read { context, rows in
      try rows.first(
        limit, context, Tables.registrations,
        "\(all: Tables.registrations) WHERE id > \(id?.text ?? "") ORDER BY id"
      ) { now < $0.flow.forgettable }
    }
  }
}

extension SignedRows {
  /// Reads what the device id of a new code already has at the requestor.
  ///
  /// `isLeft` says that another owner has a valid sign-in or a pending code there, which the new code must not end.
  fileprivate func earlier(
    _ context: borrowing WriteContext, _ record: RegistrationRecord, at now: Instant
  ) throws -> (hasSignIn: Bool, codes: [Stored<RegistrationRecord>], isLeft: Bool) {
    let signIn = try authentication(context, record.requestor, record.deviceHash)?.record
    let hasSignIn = signIn?.authentication.isValid(at: now) ?? false
    let pending = try all(
      context, Tables.registrations, CodeQueries.waiting(of: record.deviceHash, at: record.requestor)
    ).filter { $0.record.flow.settled(at: now).state.isPending }.sorted { $0.record.id < $1.record.id }
    var isLeft = try hasSignIn && leaves(context, signIn?.about, to: record.about)
    for code in pending where !isLeft { isLeft = try leaves(context, code.record.about, to: record.about) }
    return (hasSignIn, pending, isLeft)
  }

  /// Whether exactly this registration is stored, because the first call succeeded and its result was lost.
  ///
  /// If not, it deletes a row with the same code that has expired for good or fails verification.
  ///
  /// - Throws: `codeTaken` when another registration has the id or the code.
  fileprivate func isThere(
    _ context: borrowing WriteContext, _ record: RegistrationRecord, at now: Instant
  ) throws -> Bool {
    let code = record.code.bytes
    if let there = try registration(context, record.id)?.record {
      guard there == record else { throw StoreError.codeTaken }
      return true
    }
    let holder = try one(
      context, Tables.registrations, "\(all: Tables.registrations) WHERE code = \(code)")
    if let holder, now < holder.record.flow.forgettable { throw StoreError.codeTaken }
    // The row with this code has expired for good or fails verification, so the code may be used again.
    try context.run("DELETE FROM registration WHERE code = \(code)")
    return false
  }
}

/// Queries that are served by a partial index.
///
/// A database uses such an index only if the condition is written exactly as in the index.
enum CodeQueries {
  /// The query for the pending codes of a device.
  ///
  /// Some of the codes may have expired.
  static func waiting(of device: DeviceHash, at requestor: RequestorID) -> SQL {
    SQL(unsafeRawSQL: waiting, [.blob(device.bytes), .text(requestor.text)])
  }

  /// The query `waiting(of:at:)` in the form in which a transaction declares it in advance.
  static func question(of device: DeviceHash, at requestor: RequestorID) -> Question {
    Question(
      sql: waiting(of: device, at: requestor), table: Tables.registrations.name,
      columns: ["device_hash", "requestor"])
  }

  private static let waiting = """
    \(Tables.registrations.select) WHERE device_hash = ?
    AND (state = 'offered' OR state = 'opened' OR state = 'claimed') AND requestor = ?
    """

  static func countLive(at now: Instant) -> SQL {
    """
    SELECT count(*) FROM registration WHERE expires > \(now.milliseconds)
    AND (state = 'offered' OR state = 'opened' OR state = 'claimed')
    """
  }

  static func countLive(of requestor: RequestorID, at now: Instant) -> SQL {
    "\(part: countLive(at: now)) AND requestor = \(requestor.text)"
  }
}
