public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  /// What a device gets that asks whether it is signed in.
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    // Nearly every pick-up is a later one and writes nothing: reading tells. The first one writes straight away.
    if !awaitsDelivery {
      let seen = try await read { context, rows -> (pickUp: PickUp, isFirst: Bool) in
        let found = try rows.signIn(context, requestor, device, of: owner, at: now)
        let registration = try found.signIn?.record.registration.flatMap {
          try rows.registration(context, $0)?.record
        }
        return (found, registration?.flow.state.status == .approved)
      }
      guard seen.isFirst else { return seen.pickUp }
    }
    let signedIn = SignedRows.question(of: device, at: requestor)
    return try await write(
      asking: { [signedIn] },
      thenAsking: { context in
        let code = try Tables.authentications.unverified(context, signedIn, ["registration"])?[0].asText
        return (code.map { [Tables.registrations.row($0)] } ?? [])
          + (try SignedRows.questions(context, onWhich: signedIn))
      }
    ) { context, rows in
      let found = try rows.signIn(context, requestor, device, of: owner, at: now)
      guard let signIn = found.signIn else { return found }
      return .inForce(signIn, delivery: try rows.deliver(context, signIn.record, at: now))
    }
  }

  /// One sign-in, if it is in force.
  public func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError)
    -> StandingSignIn?
  {
    try await read { context, rows in try rows.standing(context, id, at: now) }
  }

  /// Signs a device in without a code.
  public func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> StandingSignIn
  {
    try await requireMoreThanReserve()
    return try await write { context, rows in
      let authentication = record.authentication
      if authentication.source == .degraded,
        let there = try rows.regularSignIn(context, of: record, at: now)
      {
        return there
      }
      let found = try rows.signInContext(context, of: record)
      var signIn = try found.standing(record)
      signIn.record = try record.bounded(by: found, at: now)
      if let there = try rows.authentication(context, authentication.id)?.record,
        there != signIn.record
      {
        throw StoreError.changedMeanwhile(what: "authentication")
      }
      try rows.keep(context, signIn.record)
      return signIn
    }
  }

  public func signOut(requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await write(asking: { [SignedRows.question(of: device, at: requestor)] }) { context, rows in
      guard let there = try rows.authentication(context, requestor, device),
        owner?.owns(there.record.about) ?? true
      else { return [] }
      try rows.endAuthentications(context, [there.record])
      return [there.record]
    }
  }

  /// Ends authentications.
  public func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await write { context, rows in
      let ended = try rows.first(
        Int.max, context, Tables.authentications, filter.query(after: nil), where: filter.includes)
      try rows.endAuthentications(context, ended)
      try rows.note(context, entry)
      return ended
    }
  }

  /// Ends the sign-ins of an account that are too many.
  public func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    let viewer = new.authentication.viewer
    guard viewer.account != nil else { return [] }
    // Counted by the index alone: nearly every account has a few.
    let mayBeTooMany = try await read { context, _ in
      try context.exists(
        """
        SELECT 1 FROM authentication WHERE provider = \(viewer.provider.text)
        AND \("account", is: viewer.account?.text) LIMIT 1 OFFSET \(room.least)
        """)
    }
    guard mayBeTooMany else { return [] }
    return try await write { context, rows in
      let all = try rows.all(context, Tables.authentications, AuthenticationFilter(viewer: viewer).query(after: nil))
        .map(\.record)
      let ended = room.surplus(of: all, besides: new.authentication.id, at: now)
      try rows.endAuthentications(context, ended)
      for record in ended { try rows.note(context, line(record)) }
      return ended
    }
  }

  /// The authentications that have not expired, nor ended with the box's that they stand on.
  public func authentications(
    _ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    try await read { context, rows in
      try rows.first(limit, context, Tables.authentications, filter.query(after: id)) {
        try filter.includes($0) && $0.authentication.isValid(at: now) && rows.isListed(context, $0, at: now)
      }
    }
  }

  /// Gives a screen a name.
  public func name(
    _ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await write { context, rows in
      if let name {
        try rows.keep(context, Tables.screenNames, ScreenName(screen: screen, name: name))
      } else {
        try context.run("DELETE FROM screen_name WHERE screen_hash = \(screen.bytes)")
      }
      try rows.note(context, entry)
    }
  }

  /// The names that were given to some of these screens.
  public func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String] {
    try await read { context, rows in
      var names: [ScreenHash: String] = [:]
      // One look-up each: a viewer has a few screens, the table has everybody's.
      for screen in screens {
        names[screen] =
          try rows.one(
            context, Tables.screenNames,
            "\(all: Tables.screenNames) WHERE screen_hash = \(screen.bytes)")?.record.name
      }
      return names
    }
  }
}

extension SignedRows {
  /// One sign-in, if its time is not over; what it stands on must stand.
  func standing<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: AuthenticationID, at now: Instant
  ) throws -> StandingSignIn? {
    guard let record = try authentication(context, id)?.record, record.authentication.isValid(at: now)
    else { return nil }
    return try signInContext(context, of: record).standing(record)
  }

  /// What a device has at a requestor, without delivering it.
  fileprivate func signIn<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ requestor: RequestorID, _ device: DeviceHash, of owner: SignInOwner?,
    at now: Instant
  ) throws -> PickUp {
    guard let record = try authentication(context, requestor, device)?.record else { return .none }
    guard owner?.owns(record.about) ?? true else {
      return record.authentication.isValid(at: now) ? .ofAnother(record.authentication.source) : .none
    }
    let signIn = try signInContext(context, of: record).standing(record)
    return record.authentication.isValid(at: now)
      ? .inForce(signIn, delivery: nil) : .expired(record)
  }

  /// The sign-in of a record's device that a degraded one must not take the place of.
  fileprivate func regularSignIn(
    _ context: borrowing WriteContext, of record: AuthenticationRecord, at now: Instant
  ) throws -> StandingSignIn? {
    do {
      let there = try signIn(
        context, record.authentication.requestor, record.deviceHash, of: nil, at: now
      ).signIn
      return there?.authentication.source == .degraded ? nil : there
    } catch let error as StoreError {
      guard case .notInForce = error else { throw error }
      return nil
    }
  }

  /// The delivery of the code, when this is the first read of its answer.
  fileprivate func deliver(
    _ context: borrowing WriteContext, _ record: AuthenticationRecord, at now: Instant
  ) throws -> RegistrationChange? {
    // A code that was taken back or forgotten meanwhile has nothing left to deliver; the sign-in stands.
    guard let id = record.registration, let stored = try registration(context, id),
      case .approved = stored.record.flow.state
    else { return nil }
    return try apply(context, .deliver, to: stored, at: now)
  }
}
