import PairingStore
import RegentPairing

/// Fills a store with rows of most tables, using the store's public functions only.
///
/// `fillOtherTables` adds rows of the others.
struct FullHouse: Sendable {
  var stage: ConformanceFixture
  let authentication: AuthenticationRecord
  let registration: RegistrationID
  let session: SessionID
  let resource: ResourceID
  let calls: PublicKey
  let client: ClientID
  let account: AccountName
  let source: SourceKey

  init(_ store: any Store) async throws {
    stage = try await ConformanceFixture(store)
    account = try found(stage.ann.account, "account")
    // Before the session is started, because setting a password ends sessions.
    _ = try await store.setPassword(
      "$argon2id$", of: account, at: stage.local, by: .operator, audit: nil, at: stage.at(0))
    authentication = try await stage.signedIn(1)
    registration = try found(authentication.registration, "registration")
    session = try ConformanceFixture.name("session-1")
    resource = try ConformanceFixture.name("ESPN")
    calls = try ConformanceFixture.name("calls-1")
    client = try ConformanceFixture.name("client")
    source = try found(SourceKey(address: [10, 0, 0, 1]), "source")
    try await fill(store)
  }

  private func fill(_ store: any Store) async throws {
    let now = stage.at(3)
    _ = try await store.record(
      Permit(resource, for: authentication.authentication, lifetime: .seconds(900), at: now),
      at: now)
    let guest = try await store.signInWithoutCode(
      stage.guest(9, at: stage.promotion, device: 9, identity: 1), at: now)
    _ = try await store.openTemporarily(guest.authentication.id, resource, at: now)
    let matched = try stage.registration(
      2, device: 2, match: NumberMatch(number: 11))
    try await stage.reserve(matched)
    try await store.add(
      KeyPair(
        publicKey: calls, requestor: stage.requestor, purpose: .calls, secret: StoredSecret([1]),
        created: now), audit: nil, at: now)
    try await store.add(
      SigningKeyRecord(
        id: try ConformanceFixture.name("signing"), privateKey: StoredSecret([7]), publicKey: "{}", created: now,
        signsFrom: now), audit: nil, at: now)
    let application = ApplicationRecord(
      id: try ConformanceFixture.name("app"), requestor: stage.requestor, name: "App", issued: now)
    try await stage.put(.application(application))
    try await store.register(
      ClientRecord(
        id: client, secret: try stage.hash(5), application: application.id,
        requestor: stage.requestor, issued: now), at: now)
    try await stage.put(
      .entitlement(
        Entitlement(
          id: try ConformanceFixture.name("rule"), provider: stage.local, scope: .account(account),
          pattern: try found(ResourcePattern("*"), "pattern"), effect: .deny(message: "no"))))
    try await store.name(stage.hash(1001), "Kitchen", audit: nil, at: now)
    try await store.keepNumbers("{}", as: .day)
    _ = try await store.recordLoginFailure(of: .source(source), at: now)
    try await store.append(
      AuditEntry(at: now, actor: .viewer(stage.ann), action: "test", subject: "x"))
  }

  /// Adds a box with an app's sign-in, invitations of a box and of a client, and an OAuth client with its grant.
  ///
  /// It also adds rows that have values in columns that are usually NULL.
  func fillOtherTables() async throws {
    let store = stage.store
    let box = try await stage.platformBox()
    _ = try await store.exchange(stage.exchange(1, box), at: stage.at(4))
    try await stage.decide(true)
    try await stage.invite(1)
    _ = try await stage.redeem(1, second: 2)
    try await store.invite(stage.clientInvitation(1, uses: 3), audit: nil, at: stage.at(1))
    var client = try stage.client(1)
    client.registrationToken = try stage.hash(5100)
    client.audience = "https://media.example"
    try await stage.put(client)
    let grant = try stage.grant(1, client, authentication, thumbprint: "the thumbprint of a key")
    _ = try await store.keep(grant, at: stage.at(3))

    let (matched, phone) = try await stage.claimed(7, device: 7, match: NumberMatch(number: 11))
    _ = try await store.approve(matched.id, stage.yes(phone, picked: 11, as: 7), audit: nil, at: stage.at(2))
    _ = try await stage.pickUp(device: 7, awaitsDelivery: true, second: 3)
    try await store.add(
      SigningKeyRecord(
        id: try ConformanceFixture.name("retired"), privateKey: StoredSecret([8]), publicKey: "{}",
        created: stage.at(1), signsFrom: stage.at(1), retired: stage.at(2), neededUntil: stage.at(3)), audit: nil,
      at: stage.at(3))
    try await stage.put(
      .account(
        Account(
          provider: stage.local, name: ConformanceFixture.name("dora"), household: ConformanceFixture.name("home"),
          attributes: AccountAttributes(
            zipCodes: ["12345"], maximumRatings: [ParentalRating(scheme: RatingScheme("MPAA"), value: "PG-13")],
            channels: ["news-1"]), mayChangePassword: true)))
  }
}
