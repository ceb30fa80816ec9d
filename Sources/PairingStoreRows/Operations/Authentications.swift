public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    // Nearly every call repeats an earlier one, and a read transaction can answer it. Only the first call for a code
    // writes, because it marks the code as delivered.
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
      mayUseReserve: true,
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

  public func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError)
    -> ValidSignIn?
  {
    try await read { context, rows in try rows.standing(context, id, at: now) }
  }

  public func countSignedInBoxes(at now: Instant) async throws(StoreError) -> Int {
    try await read { context, _ in
      try context.value(
        "SELECT count(DISTINCT device_hash) FROM authentication WHERE expires > \(now.milliseconds)") ?? 0
    }
  }

  public func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> ValidSignIn
  {
    try await write { context, rows in
      let authentication = record.authentication
      let place = try rows.place(context, authentication.requestor, record.deviceHash, record.about, at: now)
      let record = record.stored(under: place.device)
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
      try rows.keep(context, signIn.record, place)
      return signIn
    }
  }

  public func signOut(requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    let places = [device] + (owner?.separateHash(of: device).map { [$0] } ?? [])
    return try await write(mayUseReserve: true, asking: { places.map { SignedRows.question(of: $0, at: requestor) } }) {
      context, rows in
      let ended = try places.compactMap { try rows.authentication(context, requestor, $0)?.record }.filter {
        owner?.owns($0.about) ?? true
      }
      try rows.endAuthentications(context, ended)
      return ended
    }
  }

  public func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await write(mayUseReserve: true) { context, rows in
      let ended = try rows.first(
        Int.max, context, Tables.authentications, filter.query(after: nil), where: filter.includes)
      try rows.endAuthentications(context, ended)
      if !ended.isEmpty { try rows.note(context, entry) }
      return ended
    }
  }

  public func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    let viewer = new.authentication.viewer
    guard viewer.account != nil else { return [] }
    // First counts with the index alone, which is cheap: nearly every account has only a few sign-ins.
    let mayBeTooMany = try await read { context, _ in
      try context.exists(
        """
        SELECT 1 FROM authentication WHERE provider = \(viewer.provider.text)
        AND \("account", is: viewer.account?.text) LIMIT 1 OFFSET \(room.least)
        """)
    }
    guard mayBeTooMany else { return [] }
    return try await write(mayUseReserve: true) { context, rows in
      let all = try rows.all(context, Tables.authentications, AuthenticationFilter(viewer: viewer).query(after: nil))
        .map(\.record)
      let ended = room.surplus(of: all, besides: new.authentication.id, at: now)
      try rows.endAuthentications(context, ended)
      for record in ended { try rows.note(context, line(record)) }
      return ended
    }
  }

  public func authentications(
    _ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    try await read { context, rows in
      try rows.first(limit, context, Tables.authentications, filter.query(after: id)) {
        try filter.includes($0) && $0.authentication.isValid(at: now) && rows.isListed(context, $0, at: now)
      }
    }
  }

  public func setVisitorID(
    _ visitorID: String, of id: AuthenticationID, at now: Instant
  ) async throws(StoreError) -> Bool {
    try await write { context, rows in
      guard let stored = try rows.one(context, Tables.authentications, Tables.authentications.row(id.text)),
        let changed = stored.record.reporting(visitorID: visitorID)
      else { return false }
      _ = try rows.put(context, Tables.authentications, changed, over: stored)
      return true
    }
  }

  public func name(
    _ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      let current = try rows.one(
        context, Tables.screenNames, "\(all: Tables.screenNames) WHERE screen_hash = \(screen.bytes)")
      guard current?.record.name != name else { return }
      if let name {
        try rows.keep(context, Tables.screenNames, ScreenName(screen: screen, name: name))
      } else {
        try context.run("DELETE FROM screen_name WHERE screen_hash = \(screen.bytes)")
      }
      try rows.note(context, entry)
    }
  }

  public func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String] {
    try await read { context, rows in
      var names: [ScreenHash: String] = [:]
      // One query for each screen: a viewer has few screens, and the table holds the names of all viewers' screens.
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
  /// Reads a sign-in; nil when it has expired.
  ///
  /// Throws `notInForce` when the sign-in is not valid.
  func standing<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: AuthenticationID, at now: Instant
  ) throws -> ValidSignIn? {
    guard let record = try authentication(context, id)?.record, record.authentication.isValid(at: now)
    else { return nil }
    return try signInContext(context, of: record).standing(record)
  }

  /// Reads the sign-in of a device at a requestor, without marking its code as delivered.
  fileprivate func signIn<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ requestor: RequestorID, _ device: DeviceHash, of owner: SignInOwner?,
    at now: Instant
  ) throws -> PickUp {
    let there = try authentication(context, requestor, device)?.record
    if let owner, !(there.map { owner.made($0.about) && $0.authentication.isValid(at: now) } ?? false),
      let hash = owner.separateHash(of: device),
      let own = try authentication(context, requestor, hash)?.record, own.authentication.isValid(at: now)
    {
      return .inForce(try signInContext(context, of: own).standing(own), delivery: nil)
    }
    guard let record = there else { return .none }
    guard owner?.owns(record.about) ?? true else {
      return record.authentication.isValid(at: now) ? .ofAnother(record.authentication.source) : .none
    }
    let signIn = try signInContext(context, of: record).standing(record)
    return record.authentication.isValid(at: now)
      ? .inForce(signIn, delivery: nil) : .expired(record)
  }

  /// Reads the valid sign-in of the record's device, if it is one that a sign-in made during degradation (the provider
  /// is out of order) must not replace.
  fileprivate func regularSignIn(
    _ context: borrowing WriteContext, of record: AuthenticationRecord, at now: Instant
  ) throws -> ValidSignIn? {
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

  /// Marks the registration code of this sign-in as delivered, if this is the first read of the sign-in.
  fileprivate func deliver(
    _ context: borrowing WriteContext, _ record: AuthenticationRecord, at now: Instant
  ) throws -> RegistrationChange? {
    // A code that was withdrawn or deleted meanwhile cannot be marked as delivered. The sign-in stays valid.
    guard let id = record.registration, let stored = try registration(context, id),
      case .approved = stored.record.flow.state
    else { return nil }
    return try apply(context, .deliver, to: stored, at: now)
  }
}
