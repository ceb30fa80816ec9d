internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

/// Dynamic client registration (RFC 7591) and its management (RFC 7592).
///
/// The service never presents a client's metadata as verified, and never fetches an address in it.
struct RegistrationEndpoint: Sendable {
  private let core: ServiceCore
  private let frame: OAuthFrame
  private static let path = "/oauth" + ServerMetadata.Endpoint.registration.rawValue

  init(_ core: ServiceCore) {
    self.core = core
    frame = OAuthFrame(core)
  }

  func mount(_ routes: inout Routes) {
    routes.post(Self.path) { request, _ in answer(request, register) }
    routes.on(.options, Self.path) { _, _ in .now(CrossOrigin.preflight([.post])) }
    for (method, work) in [(Method.get, read), (.put, replace), (.delete, remove)] {
      routes.on(method, Self.path + "/{client}") { request, path in
        let id = path["client"]
        return answer(request) { request in try await work(request, id) }
      }
    }
    routes.on(.options, Self.path + "/{client}") { _, _ in .now(CrossOrigin.preflight([.get, .put, .delete])) }
  }

  private func answer(_ request: Request, _ work: @escaping @Sendable (Request) async throws -> Response) -> Answer {
    let request = request.forgetting
    return frame.later(request) { [core] in
      try core.limits.take(request.clientAddress)
      return try await work(request)
    }
  }

  // MARK: - Registration of a new client

  @Sendable private func register(_ request: Request) async throws -> Response {
    let members = try Self.body(request)
    let backing = try await backing(members["software_statement"], request)
    let requestor = backing.requestor
    try core.limits.take(backing.newcomer, from: request.clientAddress, at: requestor)
    let statement = backing.statement
    let metadata = try ClientMetadata(reading: members, statement: statement?.claims)
    let now = core.clock.now
    guard let id = ClientID(Random.uuid()) else { throw KeyError.inconsistent }
    let secret = metadata.method.hasSecret ? Random.token() : nil
    let token = Random.token()
    let record = OAuthClientRecord(
      id: id, requestor: requestor, origin: backing.origin,
      application: statement?.application, name: metadata.name ?? id.text, secret: secret.map(core.hasher.token),
      registrationToken: core.hasher.token(token), metadata: String(decoding: metadata.json.bytes(), as: UTF8.self),
      created: now)
    let detail = "\(requestor) \(record.name.quoted) \(request.clientAddress?.description ?? "local")"
    if case .invitation(let invitation) = backing {
      // Each use of an invitation is logged, because an operator created it for a limited number of uses.
      let line = core.audit.entry(.service, "client.register", id.text, detail: detail)
      try await register(record, with: invitation, audit: line)
    } else {
      let line = core.audit.strangerEntry(
        .service, "client.register", id.text, detail: detail, at: requestor, from: request.clientAddress)
      try await put(record, over: nil, audit: line)
    }
    // The first signing key of this algorithm is created and published now, before a client can have a token signed
    // with it.
    _ = try await core.oauth.key(metadata.algorithm, at: now)
    var answer = document(record, metadata, token: token)
    if let secret {
      answer["client_secret"] = .string(secret)
      answer["client_secret_expires_at"] = 0
    }
    answer["software_statement"] = members["software_statement"]
    return OAuthFrame.response(.created, answer)
  }

  private func shown(_ value: JSONValue, _ request: Request) throws -> Shown {
    guard let text = value.string, let claims = core.statements.read(text),
      let said = (try? UnverifiedJWS(text))?.unverifiedClaims
    else {
      throw core.countedRefusal(
        OAuthError(.invalidSoftwareStatement, "the software statement was not issued by this service, or is damaged"),
        request)
    }
    guard let application = core.provisioning.now.records.applications[claims.application],
      application.requestor == claims.requestor, !application.isRevoked,
      let requestor = core.provisioning.now.requestor(claims.requestor), requestor.registration != .closed
    else {
      throw OAuthError(
        .unapprovedSoftwareStatement, "the application of the software statement may not register clients")
    }
    var taken: JSONObject = [:]
    for name in ["client_name", "software_id"] { taken[name] = said[name] }
    return Shown(application: claims.application, requestor: claims.requestor, claims: taken)
  }

  /// Finds out what entitles a client to register: a software statement, an operator's invitation, or a requestor that
  /// is open to all.
  private func backing(_ statement: JSONValue?, _ request: Request) async throws -> Backing {
    // When the client shows both a statement and an invitation, the statement counts. It entitles to more, and no use
    // of the invitation is spent.
    if let statement { return .statement(try shown(statement, request)) }
    if let token = try TokenCredential(request), !token.isBound {
      return .invitation(try await invitation(token.token, request))
    }
    let open = core.provisioning.now.records.requestors.values.filter { $0.registration == .open }
    guard open.count == 1, let one = open.first else {
      throw OAuthError(
        .unapprovedSoftwareStatement,
        "programs register here with a software statement or a registration token: ask the service's operator")
    }
    return .nothing(one.id)
  }

  private func invitation(_ token: String, _ request: Request) async throws -> ClientInvitationRecord {
    guard let invitation = try await core.store.clientInvitation(core.hasher.token(token), at: core.clock.now),
      let requestor = core.provisioning.now.requestor(invitation.requestor), requestor.registration != .closed
    else {
      throw core.countedRefusal(Self.wrongToken, request)
    }
    return invitation
  }

  private static let wrongToken = OAuthError(
    .invalidToken, "the token does not allow a registration: ask the service's operator for a new one")

  private func register(
    _ record: OAuthClientRecord, with invitation: ClientInvitationRecord, audit line: AuditEntry
  ) async throws {
    do throws(StoreError) {
      try await core.store.register(record, invitedBy: invitation.token, audit: line, at: core.clock.now)
    } catch {
      // Another request took the last use of the invitation at the same time.
      guard case .notFound = error else { throw error }
      throw Self.wrongToken
    }
  }

  private func put(_ record: OAuthClientRecord, over seen: OAuthClientRecord?, audit line: AuditEntry?) async throws {
    do throws(StoreError) {
      let room = record.origin == .itself ? ClientRoom.open(at: core.age.now) : .unlimited
      try await core.store.put(record, replacing: seen, in: room, audit: line, at: core.clock.now)
    } catch {
      switch error {
      case .tooManyClients:
        throw OAuthError(
          .temporarilyUnavailable, "too many programs registered themselves in the last hour: try again later")
      case .notFound: throw OAuthError(.unapprovedSoftwareStatement, "the software statement was revoked")
      default: throw error
      }
    }
  }

  // MARK: - Management of a client's own registration

  private func read(_ request: Request, _ id: String) async throws -> Response {
    let client = try await own(request, id)
    return OAuthFrame.response(.ok, document(client.record, client.metadata, token: nil))
  }

  /// Replaces a client's registration (RFC 7592).
  ///
  /// Metadata that the request leaves out is deleted.
  private func replace(_ request: Request, _ id: String) async throws -> Response {
    let client = try await own(request, id)
    let members = try Self.body(request)
    guard members["client_id"]?.string == id else {
      throw OAuthError(.invalidRequest, "client_id must be the client id in the address")
    }
    let ours = [
      "registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at",
    ]
    guard !ours.contains(where: { members[$0] != nil }) else {
      throw OAuthError(
        .invalidRequest,
        "remove the members that only the service sets: registration_access_token, registration_client_uri and the times"
      )
    }
    if let secret = members["client_secret"] {
      guard let text = secret.string, core.hasher.isToken(text, client.record.secret) else {
        throw OAuthError(.invalidRequest, "a client cannot choose its secret")
      }
    }
    var claims: JSONObject?
    if client.record.origin == .statement {
      // Metadata from the software statement cannot be replaced.
      var kept: JSONObject = [:]
      kept["client_name"] = client.metadata.name.map(JSONValue.string)
      kept["software_id"] = client.metadata.softwareID.map(JSONValue.string)
      claims = kept
    }
    let metadata = try ClientMetadata(reading: members, statement: claims)
    guard metadata.method.hasSecret == client.metadata.method.hasSecret else {
      throw OAuthError(
        .invalidClientMetadata, "a client cannot change between having a secret and having none: register a new client")
    }
    var next = client.record
    next.name = metadata.name ?? id
    next.metadata = String(decoding: metadata.json.bytes(), as: UTF8.self)
    if next != client.record {
      try core.limits.takeChange(of: next.id, at: next.requestor)
      let line = core.audit.strangerEntry(
        .service, "client.set", id, detail: "the client \(next.name.quoted) changed its own registration",
        at: next.requestor, from: request.clientAddress)
      try await put(next, over: client.record, audit: line)
    }
    return OAuthFrame.response(.ok, document(next, metadata, token: nil))
  }

  private func remove(_ request: Request, _ id: String) async throws -> Response {
    let client = try await own(request, id)
    let line = core.audit.strangerEntry(
      .service, "client.remove", id, detail: "the client \(client.record.name.quoted) deleted its own registration",
      at: client.record.requestor, from: request.clientAddress)
    _ = try await core.signInTransitions.removeClient(client.record.id, audit: line)
    var response = Response(.noContent)
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  /// Authenticates a client by its registration token (RFC 7592).
  ///
  /// An unknown client gets the same response as a wrong token.
  private func own(_ request: Request, _ id: String) async throws -> AuthenticatedClient {
    let credential = try TokenCredential(request)
    var record: OAuthClientRecord?
    if let id = ClientID(id) { record = try await core.store.oauthClient(id) }
    guard let credential, !credential.isBound, core.hasher.isToken(credential.token, record?.registrationToken),
      let record, let client = AuthenticatedClient(record)
    else {
      throw core.countedRefusal(
        OAuthError(.invalidToken, "there is no registration with this address and token"), request)
    }
    return client
  }

  // MARK: - Response documents

  private func document(_ record: OAuthClientRecord, _ metadata: ClientMetadata, token: String?) -> JSONObject {
    var object = metadata.json
    object["client_id"] = .string(record.id.text)
    object["client_id_issued_at"] = .integer(record.created.second)
    object["registration_client_uri"] = .string("\(core.oauth.metadata.address(.registration))/\(record.id.text)")
    object["registration_access_token"] = token.map(JSONValue.string)
    return object
  }

  private static func body(_ request: Request) throws(OAuthError) -> JSONObject {
    guard request.contentType?.matches(.json) == true,
      let value = try? JSONValue(reading: request.body, limits: JSONLimits(depth: 8, bytes: 65_536)),
      let object = value.object
    else { throw OAuthError(.invalidClientMetadata, "the body is not a JSON object: send application/json") }
    return object
  }
}

/// What allows a client to register: a software statement, an invitation, or a requestor that accepts every client.
private enum Backing {
  case statement(Shown)
  case invitation(ClientInvitationRecord)
  case nothing(RequestorID)

  var requestor: RequestorID {
    switch self {
    case .statement(let shown): shown.requestor
    case .invitation(let invitation): invitation.requestor
    case .nothing(let requestor): requestor
    }
  }

  var origin: OAuthClientRecord.Origin {
    switch self {
    case .statement: .statement
    case .invitation: .invited
    case .nothing: .itself
    }
  }

  var newcomer: RequestLimits.Newcomer {
    switch self {
    case .statement, .invitation: .app
    case .nothing: .program
    }
  }

  var statement: Shown? {
    guard case .statement(let shown) = self else { return nil }
    return shown
  }
}

private struct Shown {
  let application: StatementID
  let requestor: RequestorID
  /// The claims of the software statement that become client metadata.
  let claims: JSONObject
}
