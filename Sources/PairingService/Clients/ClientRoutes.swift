package import HTTPServer
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Client registration for protocol V1: an app installation sends its software statement and gets credentials, with
/// which it gets access tokens.
///
/// A registration stores nothing, because an app and its statement are public, so that an attacker could add any number
/// of rows. The client's id contains the application and a random number; the secret is derived from the id.
///
/// Responses are JSON only, and errors are the documented `{"error":"…"}`. Nothing of the request is repeated in them.
package struct ClientRoutes: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  package func mount(_ routes: inout Routes) {
    mount(&routes, Paths.registerClient) { request in try await register(request) }
    mount(&routes, Paths.clientToken) { request in try await token(request) }
  }

  private func mount(
    _ routes: inout Routes, _ path: String,
    _ work: @escaping @Sendable (Request) async throws -> Response
  ) {
    routes.post(path) { [core] request, _ in
      do throws(CallError) {
        try core.limits.take(request.clientAddress)
      } catch {
        return .now(refusal(error, to: request))
      }
      return .later { reply in
        Task { reply.complete(await answer(request, work)) }
      }
    }
    routes.on(.options, path) { _, _ in .now(CrossOrigin.preflight([.post])) }
  }

  // MARK: - Registration of clients

  private func register(_ request: Request) async throws -> Response {
    let now = core.clock.now
    let asked = try RegistrationRequest(request)
    guard let claims = core.statements.read(asked.statement) else {
      throw ClientRefusal(.invalidSoftwareStatement, counts: true)
    }
    let provisioned = core.provisioning.now
    guard let application = provisioned.records.applications[claims.application],
      application.requestor == claims.requestor, !application.isRevoked,
      let requestor = provisioned.requestor(application.requestor)
    else { throw ClientRefusal(.unapprovedSoftwareStatement, counts: true) }
    if let address = asked.redirectURI, !RedirectRule(requestor).allows(address) {
      throw ClientRefusal(.invalidRedirectURI)
    }
    try core.limits.take(.app, from: request.clientAddress, at: requestor.id)
    guard let id = ClientID(Self.prefix + Hex.encode(Random.bytes(16)) + "." + application.id.text) else {
      throw KeyError.inconsistent
    }
    return Self.response(
      .created,
      ClientDocument(
        id: id.text, secret: core.hasher.clientSecret(id), issued: now,
        redirectURIs: asked.redirectURI.map { [$0] } ?? [], statement: asked.statement))
  }

  /// The start of the ids whose secret is derived.
  private static let prefix = "v1."

  /// The client with this id; nil when its application does not exist or is revoked.
  private func client(_ id: ClientID) async throws -> ClientRecord? {
    // Releases up to 0.1.0 stored each client as a row and used a UUID as its id.
    guard id.text.hasPrefix(Self.prefix) else { return try await core.store.client(id) }
    let parts = id.text.split(separator: ".", maxSplits: 2)
    guard parts.count == 3, let application = StatementID(String(parts[2])),
      let record = core.provisioning.now.records.applications[application], !record.isRevoked
    else { return nil }
    return ClientRecord(
      id: id, secret: core.hasher.token(core.hasher.clientSecret(id)), application: record.id,
      requestor: record.requestor, issued: record.issued)
  }

  // MARK: - Access tokens

  private func token(_ request: Request) async throws -> Response {
    let credentials = try ClientCredentials(request)
    let client = try await client(credentials.id)
    // The secret is also compared when the client is unknown, so that timing does not reveal which clients exist.
    guard core.hasher.isToken(credentials.secret, client?.secret), let client else {
      throw ClientRefusal(.invalidClient, asksForBasic: credentials.areBasic, counts: true)
    }
    let now = core.clock.now
    guard let application = core.provisioning.now.records.applications[client.application],
      application.requestor == client.requestor, !application.isRevoked
    else { throw ClientRefusal(.unauthorizedClient, counts: true) }
    let issued = try core.accessTokens.issue(for: client, at: now)
    return Self.response(
      .ok,
      AccessTokenDocument(
        id: issued.id, token: issued.text, created: issued.created,
        lifetime: Int(issued.lifetime.components.seconds)))
  }

  // MARK: - Error responses

  private func answer(
    _ request: Request, _ work: @Sendable (Request) async throws -> Response
  ) async -> Response {
    do {
      var response = try await work(request)
      if request.header(.origin) != nil { CrossOrigin.allow(&response) }
      return response
    } catch let error as ClientRefusal {
      return error.counts ? countedRefusal(error, to: request) : refusal(error, to: request)
    } catch let error as CallError {
      return refusal(error, to: request)
    } catch let error as StoreError {
      core.storeTrouble.note(error)
      return refusal(CallError(error), to: request)
    } catch {
      core.log.error("call-failed", ("reason", "\(error)"))
      return refusal(CallError(.internalServerError), to: request)
    }
  }

  /// Counts an invalid credential against the rate limit of the client's address.
  ///
  /// The response is `error`, or 429 when there were too many from this address. Valid credentials are still accepted
  /// after that, because a page of another site can make a viewer's browser send invalid ones.
  private func countedRefusal(_ error: ClientRefusal, to request: Request) -> Response {
    do throws(CallError) {
      try core.countRefused(.client, error.reason.rawValue, from: request.clientAddress)
    } catch {
      return refusal(error, to: request)
    }
    return refusal(error, to: request)
  }

  private func refusal(_ error: ClientRefusal, to request: Request) -> Response {
    var response = Self.response(
      error.asksForBasic ? .unauthorized : .badRequest, ClientErrorDocument(error.reason))
    if error.asksForBasic { response.addHeader(.wwwAuthenticate, "Basic realm=\"client\"") }
    if request.header(.origin) != nil { CrossOrigin.allow(&response) }
    return response
  }

  /// The response to an error of the service itself or of its limits, such as too many requests or an outage of the
  /// store.
  private func refusal(_ error: CallError, to request: Request) -> Response {
    var response = Self.response(
      error.status,
      ErrorDocument(
        status: Int(error.status.rawValue), message: error.message, details: error.details))
    response.addRetryAfter(error, core.storeTrouble)
    if request.header(.origin) != nil { CrossOrigin.allow(&response) }
    return response
  }

  private static func response(_ status: Status, _ document: some WireDocument) -> Response {
    var response = Response(status, body: document.bytes(as: .json))
    response.addHeader(.contentType, WireFormat.json.contentType)
    response.addHeader(.cacheControl, "no-store")
    response.addHeader(HeaderName(literal: "Pragma"), "no-cache")
    return response
  }
}
