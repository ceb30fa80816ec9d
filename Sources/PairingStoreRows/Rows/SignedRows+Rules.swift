import RegentPairing
import PairingStore
import RegentSQL

// Reads and changes that several store operations share. All of them run inside the operation's transaction.

extension SignedRows {
  func registration<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: RegistrationID
  ) throws -> Stored<RegistrationRecord>? {
    try one(context, Tables.registrations, Tables.registrations.row(id.text))
  }

  func required(
    _ context: borrowing WriteContext, _ id: RegistrationID
  ) throws -> Stored<RegistrationRecord> {
    guard let stored = try registration(context, id) else {
      throw StoreError.notFound(what: "code")
    }
    return stored
  }

  /// Applies an event to a registration and writes the columns that the event changes.
  func apply(
    _ context: borrowing WriteContext, _ event: PairingEvent, to stored: Stored<RegistrationRecord>,
    at now: Instant
  ) throws -> RegistrationChange {
    let step = try step(event, of: stored.record, at: now)
    return try write(context, step, of: stored)
  }

  func step(_ event: PairingEvent, of record: RegistrationRecord, at now: Instant)
    throws(StoreError) -> PairingStep
  {
    do throws(PairingRefusal) {
      return try record.flow.applying(event, at: now)
    } catch {
      throw .refused(error)
    }
  }

  func write(
    _ context: borrowing WriteContext, _ step: PairingStep, of stored: Stored<RegistrationRecord>
  ) throws -> RegistrationChange {
    if step.flow != stored.record.flow {
      try update(context, Tables.registrations, stored, FlowColumns.change, FlowColumns(step.flow).values)
      context.changed(.code(stored.record.id))
    }
    return RegistrationChange(record: stored.record.moved(to: step.flow), actions: step.actions)
  }

  func provider<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: ProviderID
  ) throws -> Provider? {
    try shared(context, Tables.providers, id.text)?.record
  }

  func account<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ provider: ProviderID, _ name: AccountName
  ) throws -> Account? {
    try one(context, Tables.accounts, Tables.accounts.row(provider.text, name.text))?.record
  }

  func password<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of name: AccountName, at provider: ProviderID
  ) throws -> String? {
    // The account's row must verify, too. Otherwise a password could be used with a row that an attacker has changed.
    guard try account(context, provider, name) != nil else { return nil }
    return try one(context, Tables.passwords, Tables.passwords.row(provider.text, name.text))?.record.phc
  }

  /// Reads the records on which the validity of a sign-in depends.
  func signInContext<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ viewer: Viewer, _ requestor: RequestorID, rowKey: PublicKey,
    device: DeviceHash, identity: IdentityHash?
  ) throws -> SignInContext {
    let integration = try shared(context, Tables.integrations, requestor.text, viewer.provider.text)?.record
    let provider = try provider(context, viewer.provider)
    return SignInContext(
      integration: integration, provider: provider,
      account: try viewer.account.flatMap { try account(context, viewer.provider, $0) },
      rowKey: try pair(context, rowKey)?.record,
      use: provider?.temporaryPass == nil
        ? TemporaryPassUse() : try use(context, requestor, viewer.provider, device, identity))
  }

  func signInContext<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of record: AuthenticationRecord
  ) throws -> SignInContext {
    var found = try signInContext(
      context, record.authentication.viewer, record.authentication.requestor,
      rowKey: record.rowKey, device: record.deviceHash, identity: record.identity)
    if let parent = record.authentication.parent {
      try found.take(try refusal(context, ofParent: parent, of: record), ofParentOf: record)
    }
    return found
  }

  /// The queries that ``signInContext(_:_:_:rowKey:device:identity:)`` sends, to be declared in advance.
  static func questions(
    ofSignInAt provider: SQLValue, account: SQLValue, requestor: SQLValue, rowKey: SQLValue
  ) -> [Question] {
    var questions: [Question] = []
    if let rowKey = rowKey.asText { questions.append(Tables.keyPairs.row(rowKey)) }
    guard let provider = provider.asText else { return questions }
    questions.append(Tables.providers.row(provider))
    if let requestor = requestor.asText { questions.append(Tables.integrations.row(requestor, provider)) }
    if let account = account.asText { questions.append(Tables.accounts.row(provider, account)) }
    return questions
  }

  /// The queries that a check of this sign-in will send, to be declared in advance once its row has been read.
  static func questions<Context: Querying & ~Copyable>(
    _ context: borrowing Context, onWhich signIn: Question
  ) throws -> [Question] {
    let names = ["provider", "account", "requestor", "public_key"]
    guard let found = try Tables.authentications.unverified(context, signIn, names) else { return [] }
    return questions(ofSignInAt: found[0], account: found[1], requestor: found[2], rowKey: found[3])
  }

  /// Reads what the device or the identity has used of a temporary pass.
  func use<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ requestor: RequestorID, _ provider: ProviderID,
    _ device: DeviceHash, _ identity: IdentityHash?
  ) throws -> TemporaryPassUse {
    // Without an identity the last condition compares with NULL, which matches no row.
    let passes = try all(
      context, Tables.passes,
      """
      \(all: Tables.passes) WHERE requestor = \(requestor.text) AND provider = \(provider.text)
      AND (device_hash = \(device.bytes) OR identity = \(identity.column))
      """)
    return passes.map(\.record.use).reduce(TemporaryPassUse()) { $0.joined(with: $1) }
  }

  func liveSession<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: SessionID, at now: Instant
  ) throws -> Stored<SessionRecord> {
    let stored = try one(context, Tables.sessions, Tables.sessions.row(id.text))
    guard let stored, stored.record.isValid(at: now),
      try signInRefusal(context, of: stored.record.viewer) == nil
    else { throw StoreError.sessionEnded }
    return stored
  }

  /// The reason why a browser may not be signed in as this viewer; nil when it may.
  func signInRefusal<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of viewer: Viewer
  ) throws -> AuthenticationRefusal? {
    guard let provider = try provider(context, viewer.provider) else { return .notIntegrated }
    guard let name = viewer.account else {
      return provider.temporaryPass == nil ? .accountGone : nil
    }
    guard provider.hasAccounts, let account = try account(context, viewer.provider, name) else {
      return .accountGone
    }
    return account.isDisabled ? .accountDisabled : nil
  }

  /// Throws `changedMeanwhile` unless the account's password hash is still `proved`.
  ///
  /// For guests, who have no password, it does nothing.
  func requireStillPassword<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ proved: String?, of viewer: Viewer
  ) throws {
    guard let proved, let name = viewer.account else { return }
    guard try password(context, of: name, at: viewer.provider) == proved else {
      throw StoreError.changedMeanwhile(what: "password")
    }
  }

  /// Ends browser sessions and their claims on codes.
  func endSessions(
    _ context: borrowing WriteContext, _ ended: [SessionRecord], at now: Instant
  ) throws -> [RegistrationChange] {
    var changes: [RegistrationChange] = []
    for session in ended {
      try context.run("DELETE FROM session WHERE id = \(session.id.text)")
      let claimed = try all(
        context, Tables.registrations,
        "\(all: Tables.registrations) WHERE session = \(session.id.text) AND state = 'claimed'")
      for stored in claimed {
        guard case .claimed = stored.record.flow.settled(at: now).state else { continue }
        changes.append(try apply(context, .release(session.id), to: stored, at: now))
      }
    }
    return changes.sorted { $0.record.id < $1.record.id }
  }

  func sessions<Context: Querying & ~Copyable>(
    _ context: borrowing Context, of viewer: Viewer
  ) throws -> [SessionRecord] {
    try all(
      context, Tables.sessions,
      """
      \(all: Tables.sessions) WHERE provider = \(viewer.provider.text)
      AND \("account", is: viewer.account?.text) ORDER BY id
      """
    ).map(\.record)
  }

  /// Deletes authentications together with their permits.
  func endAuthentications(
    _ context: borrowing WriteContext, _ ended: [AuthenticationRecord]
  ) throws {
    for record in ended {
      try SignedRows.deleteSignIn(context, record)
      context.changed(.signIn(record.authentication.requestor, record.deviceHash))
    }
  }

  func authentication<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ requestor: RequestorID, _ device: DeviceHash
  ) throws -> Stored<AuthenticationRecord>? {
    try one(context, Tables.authentications, SignedRows.question(of: device, at: requestor))
  }

  static func question(of device: DeviceHash, at requestor: RequestorID) -> Question {
    question(of: .blob(device.bytes), at: .text(requestor.text))
  }

  static func question(of device: SQLValue, at requestor: SQLValue) -> Question {
    Question(
      sql: SQL(unsafeRawSQL: ofDevice, [device, requestor]), table: Tables.authentications.name,
      columns: devicePlace)
  }

  private static let ofDevice = "\(Tables.authentications.select) WHERE device_hash = ? AND requestor = ?"
  private static let devicePlace = ["device_hash", "requestor"]

  func authentication<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: AuthenticationID
  ) throws -> Stored<AuthenticationRecord>? {
    try one(
      context, Tables.authentications, Tables.authentications.row(id.text))
  }

  /// Where a new sign-in of a device is stored, and what is stored there already.
  struct Place {
    /// The hash of the device id, or the owner's separate one (``SignInOwner``).
    let device: DeviceHash
    fileprivate let earlier: AuthenticationRecord?
    /// Whether a row with this hash exists, even one that fails verification.
    fileprivate let isTaken: Bool
  }

  /// Finds the place of a new sign-in.
  ///
  /// A valid sign-in of another owner keeps the hash of the device id, and the new one gets its owner's separate hash.
  func place(
    _ context: borrowing WriteContext, _ requestor: RequestorID, _ device: DeviceHash, _ about: DeviceDescription,
    at now: Instant
  ) throws -> Place {
    let there = try place(context, Tables.authentications, SignedRows.question(of: device, at: requestor))
    guard let owner = about.owner, let found = there.stored?.record, found.authentication.isValid(at: now),
      try leaves(context, found.about, to: about)
    else { return Place(device: device, earlier: there.stored?.record, isTaken: there.isTaken) }
    let own = device.separate(for: owner)
    let earlier = try place(context, Tables.authentications, SignedRows.question(of: own, at: requestor))
    return Place(device: own, earlier: earlier.stored?.record, isTaken: earlier.isTaken)
  }

  /// Whether a new row leaves an earlier one of the same device id to its owner.
  func leaves<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ earlier: DeviceDescription?, to new: DeviceDescription
  ) throws -> Bool {
    guard let earlier else { return false }
    return try new.leaves(earlier) { try pair(context, $0)?.record }
  }

  /// Stores a new authentication and ends the owner's earlier one of the device at the requestor.
  func keep(_ context: borrowing WriteContext, _ record: AuthenticationRecord, _ place: Place) throws {
    let requestor = record.authentication.requestor
    if let earlier = place.earlier {
      try endAuthentications(context, [earlier])
    } else if place.isTaken {
      // The earlier row fails verification. It must be deleted, because the database allows one row for each pair of
      // device and requestor.
      try context.run(
        "DELETE FROM authentication WHERE device_hash = \(record.deviceHash.bytes) AND requestor = \(requestor.text)")
    }
    // While another owner had the hash of the device id, this owner's sign-in was stored apart.
    if let owner = record.about.owner,
      let apart = try authentication(context, requestor, record.deviceHash.separate(for: owner))?.record
    {
      try endAuthentications(context, [apart])
    }
    try insert(context, Tables.authentications, record)
    context.changed(.signIn(requestor, record.deviceHash))
  }
}
