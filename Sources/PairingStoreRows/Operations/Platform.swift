public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError) -> BoxRecord {
    try await write { context, rows in
      guard try rows.standing(context, box.authentication, at: now) != nil else {
        throw StoreError.notFound(what: "authentication")
      }
      if let there = try rows.box(context, of: box.authentication) { return there }
      // A row that fails verification would otherwise keep the box's key out.
      try context.run("DELETE FROM platform_box WHERE authentication = \(box.authentication.text)")
      try rows.insert(context, Tables.boxes, box)
      return box
    }
  }

  public func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord? {
    try await read { context, rows in
      guard let box = try rows.one(context, Tables.boxes, Tables.boxes.row(id.text))?.record,
        let record = try rows.authentication(context, box.authentication)?.record,
        record.authentication.isValid(at: now)
      else { return nil }
      return box
    }
  }

  public func box(of authentication: AuthenticationID) async throws(StoreError) -> BoxRecord? {
    try await read { context, rows in try rows.box(context, of: authentication) }
  }

  public func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> ValidSignIn {
    try await write { context, rows in
      let used = UsedText(id: exchange.request, ends: exchange.requestEnds)
      guard try rows.insertNew(context, Tables.usedRequests, used) else { throw StoreError.exchange(.used) }
      guard let box = try rows.one(context, Tables.boxes, Tables.boxes.row(exchange.box.text))?.record,
        box.key == exchange.key
      else { throw StoreError.exchange(.parent) }
      let parent = try rows.parent(context, box.authentication, of: exchange, at: now)
      let place = try rows.place(context, exchange.requestor, exchange.deviceHash, exchange.about, at: now)
      let found = try rows.signInContext(
        context, parent.authentication.viewer, exchange.requestor, rowKey: exchange.rowKey,
        device: place.device, identity: nil)
      var signIn = try found.authentication(for: exchange, parent: parent, at: now)
      signIn.record = signIn.record.stored(under: place.device)
      if let there = try rows.regularSignIn(context, of: signIn.record, at: now) { return there }
      try rows.keep(context, signIn.record, place)
      for id in try rows.signInsTooMany(context, of: parent.authentication.id, app: exchange.app, at: now) {
        try SignedRows.deleteSignIns(context, .id(id))
      }
      return signIn
    }
  }

  public func decide(
    _ decision: PlatformPermissionRecord, signed: UsedText?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Bool {
    try await write(mayUseReserve: entry?.isOfStranger == false) { context, rows in
      if let signed, try !rows.insertNew(context, Tables.usedRequests, signed) { return false }
      let there = try rows.decisions(context, of: decision.device)
      guard let change = try PermissionChange(decision, among: there, at: now) else { return false }
      if let forgotten = change.forgotten {
        try context.run(
          """
          DELETE FROM platform_permission WHERE device_hash = \(forgotten.device.bytes) AND app = \(forgotten.app)
          AND requestor = \(forgotten.requestor.text)
          """)
      }
      try rows.keep(context, Tables.platformPermissions, change.kept)
      context.changed(.box(decision.device))
      if change.isNew { try rows.note(context, entry) }
      return true
    }
  }

  public func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord] {
    try await read { context, rows in try rows.decisions(context, of: device) }
  }

  public func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview] {
    try await read { context, rows in
      var found: [BoxOverview] = []
      guard limit > 0 else { return found }
      let rest: SQL = "\(all: Tables.boxes) WHERE id > \(id?.text ?? "") ORDER BY id"
      try rows.walk(context, Tables.boxes, rest, expecting: limit) { stored in
        let box = stored.record
        if let signIn = try rows.authentication(context, box.authentication)?.record,
          signIn.authentication.isValid(at: now)
        {
          let apps = try rows.children(context, of: box.authentication, at: now)
          found.append(BoxOverview(box: box, signIn: signIn, apps: apps))
        }
        return found.count < limit
      }
      return found
    }
  }

  public func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await read { context, rows in try rows.children(context, of: parent, at: now) }
  }
}

extension SignedRows {
  fileprivate func box<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of authentication: AuthenticationID
  ) throws -> BoxRecord? {
    try one(context, Tables.boxes, "\(all: Tables.boxes) WHERE authentication = \(authentication.text)")?.record
  }

  /// Why an app's sign-in that depends on a box's sign-in is refused; nil when it is not refused.
  ///
  /// It is refused when the box's sign-in is not valid or the viewer does not let the app use it. The expiry of the
  /// box's sign-in is not checked, because no app's sign-in outlives it. If one reason ends the sign-in and another
  /// only pauses it, the end is reported.
  func refusal<Context: Querying & ~Copyable>(
    _ context: borrowing Context, ofParent parent: ParentSignIn, of record: AuthenticationRecord
  ) throws -> AuthenticationRefusal? {
    guard let box = try box(context, of: parent, lettingIn: record) else { return .parentEnded }
    return try signInContext(context, of: box).pauseOrEnd(ofParent: box)
  }

  /// Reads the box's own sign-in, if it exists and the viewer lets the app use it.
  private func box<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of parent: ParentSignIn, lettingIn record: AuthenticationRecord
  ) throws -> AuthenticationRecord? {
    let app = record.authentication
    guard let box = try authentication(context, parent.id)?.record, box.authentication.source == .regular,
      // The box must still be signed in as the same viewer. If it signed in again with another account, the app's
      // sign-in ends.
      box.authentication.viewer == app.viewer,
      try decision(context, box.deviceHash, parent.app, app.requestor)?.refuses(whatIsFrom: app.issued) != true
    else { return nil }
    return box
  }

  /// Whether an app's sign-in is shown in lists.
  ///
  /// It is not shown when the box has signed out or the viewer has withdrawn the permission.
  func isListed<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ record: AuthenticationRecord, at now: Instant
  ) throws -> Bool {
    guard let parent = record.authentication.parent else { return true }
    return try box(context, of: parent, lettingIn: record)?.authentication.isValid(at: now) == true
  }

  fileprivate func decision<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ device: DeviceHash, _ app: String, _ requestor: RequestorID
  ) throws -> PlatformPermissionRecord? {
    try one(
      context, Tables.platformPermissions,
      """
      \(all: Tables.platformPermissions) WHERE device_hash = \(device.bytes) AND app = \(app)
      AND requestor = \(requestor.text)
      """)?.record
  }

  fileprivate func decisions<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of device: DeviceHash
  ) throws -> [PlatformPermissionRecord] {
    try all(
      context, Tables.platformPermissions,
      """
      \(all: Tables.platformPermissions) WHERE device_hash = \(device.bytes) ORDER BY app, requestor
      """
    ).map(\.record)
  }

  fileprivate func children<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of parent: AuthenticationID, at now: Instant
  ) throws -> [AuthenticationRecord] {
    try all(
      context, Tables.authentications, "\(all: Tables.authentications) WHERE parent = \(parent.text) ORDER BY id"
    ).map(\.record).filter { $0.authentication.isValid(at: now) }
  }

  /// The ids of a box's oldest sign-ins of apps that exceed the box's limits.
  ///
  /// The columns are read without verification, because a row that fails verification has no effect anyway. A box owner
  /// who invents device ids, or names of apps, uses up only the limits of that box.
  fileprivate func signInsTooMany(
    _ context: borrowing WriteContext, of parent: AuthenticationID, app: String, at now: Instant
  ) throws -> [String] {
    // First counts with the index alone. That suffices for most boxes, which have only a few apps.
    let count: Int = try context.value("SELECT count(*) FROM authentication WHERE parent = \(parent.text)") ?? 0
    guard count > BoxOverview.mostOfApp else { return [] }
    let beyond = try context.all(
      """
      SELECT id FROM authentication WHERE parent = \(parent.text) AND app = \(app)
      AND expires > \(now.milliseconds) ORDER BY issued DESC, id DESC
      \(unsafeRawSQL: Dialect.noLimit) OFFSET \(BoxOverview.mostOfApp)
      """
    ) { try $0.text(0) }
    guard count > BoxOverview.mostOfBox else { return beyond }
    return try beyond
      + context.all(
        """
        SELECT id FROM authentication WHERE parent = \(parent.text)
        AND expires > \(now.milliseconds) ORDER BY issued DESC, id DESC
        \(unsafeRawSQL: Dialect.noLimit) OFFSET \(BoxOverview.mostOfBox)
        """
      ) { try $0.text(0) }
  }

  /// Reads the box's own sign-in, if an app's sign-in may be derived from it now.
  fileprivate func parent(
    _ context: borrowing WriteContext, _ id: AuthenticationID, of exchange: PlatformExchange, at now: Instant
  ) throws -> AuthenticationRecord {
    guard let parent = try authentication(context, id)?.record, parent.authentication.isValid(at: now),
      exchange.mayUse(parent), try requestor(context, parent.authentication.requestor)?.isPlatform == true,
      (try? signInContext(context, of: parent).standing(parent)) != nil
    else { throw StoreError.exchange(.parent) }
    let decision = try decision(context, parent.deviceHash, exchange.app, exchange.requestor)
    guard decision?.refuses(whatIsFrom: exchange.requestMade) != true else {
      throw StoreError.exchange(.permission)
    }
    return parent
  }

  /// Reads the valid regular sign-in of the device, which an exchange of a box's assertion must not replace.
  fileprivate func regularSignIn(
    _ context: borrowing WriteContext, of record: AuthenticationRecord, at now: Instant
  ) throws -> ValidSignIn? {
    guard let there = try authentication(context, record.authentication.requestor, record.deviceHash)?.record,
      there.authentication.source == .regular, there.authentication.isValid(at: now)
    else { return nil }
    return try? signInContext(context, of: there).standing(there)
  }
}
