internal import HTTPServer
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
package import PairingStore
package import RegentOAuth
internal import RegentPairing

package struct AuthenticatedClient: Sendable {
  package let record: OAuthClientRecord
  package let metadata: ClientMetadata

  package init?(_ record: OAuthClientRecord) {
    guard let members = (try? JSONValue(reading: Array(record.metadata.utf8)))?.object,
      let metadata = try? ClientMetadata(reading: members)
    else { return nil }
    self.record = record
    self.metadata = metadata
  }

  /// The authentication method of a client, read from its metadata without parsing the rest.
  static func method(of record: OAuthClientRecord) -> ClientMethod? {
    (try? JSONValue(reading: Array(record.metadata.utf8)))?.object?["token_endpoint_auth_method"]?.string
      .flatMap(ClientMethod.init)
  }

  /// Whether this client may introspect an access token of `client`.
  ///
  /// A client may introspect its own tokens. Only clients that an operator created may introspect tokens of others. A
  /// client that registered itself could otherwise find out which viewers are signed in where. A client that registered
  /// with a software statement could do so too, because every copy of the app contains the statement.
  func mayAsk(about client: ClientID, of requestor: RequestorID) -> Bool {
    client == record.id || record.origin == .operator && requestor == record.requestor
  }
}

extension ServiceCore {
  /// Authenticates the client of an OAuth request.
  ///
  /// A client with valid credentials is accepted whatever other clients at its address try, because 256 bits cannot be
  /// guessed. Invalid credentials are counted, and too many of them get 429.
  func client(_ shown: ClientAuthentication, _ request: Request) async throws -> AuthenticatedClient {
    do {
      return try await checked(shown)
    } catch let error as OAuthError where error.code == .invalidClient {
      throw countedRefusal(error, request)
    }
  }

  /// Counts a failed client authentication.
  ///
  /// Returns the error to respond with: `error`, or 429 when there were too many from this address, no matter whether
  /// the client exists.
  func countedRefusal(_ error: OAuthError, _ request: Request) -> any Error {
    do throws(CallError) {
      try countRefused(.program, error.code.rawValue, from: request.clientAddress)
    } catch {
      return error
    }
    return error
  }

  /// Authenticates a client from the cache; nil when the store must be asked.
  ///
  /// `mark` is the present value of the store's change counter (``GrantStore/standingMark``), which tells whether a
  /// cached record is still current. Nil does not mean that the credentials are wrong. A secret is compared in any
  /// case, so that timing does not reveal which client ids exist.
  func remembered(_ shown: ClientAuthentication, asOf mark: UInt64) -> AuthenticatedClient? {
    switch shown {
    case .name(let id, _):
      guard let client = standingClient(id, asOf: mark), client.metadata.method == .none else { return nil }
      return client
    case .secret(let id, let secret, _):
      let client = standingClient(id, asOf: mark)
      return hasher.isToken(secret, client?.record.secret) ? client : nil
    case .assertion: return nil
    }
  }

  private func standingClient(_ id: ClientID, asOf mark: UInt64) -> AuthenticatedClient? {
    guard let client = oauth.standing.client(id, asOf: mark),
      provisioning.now.requestor(client.record.requestor) != nil
    else { return nil }
    return client
  }

  private func checked(_ shown: ClientAuthentication) async throws -> AuthenticatedClient {
    if let mark = store.standingMark, let client = remembered(shown, asOf: mark) { return client }
    let unknown = OAuthError(
      .invalidClient, "there is no client with this id and secret", asksForBasic: shown.isBasic)
    // The same work is done and the same text sent for wrong credentials whether or not the client exists. An attacker
    // therefore cannot find out which clients exist.
    switch shown {
    case .name(let id, _):
      guard let found = try await registered(id, showing: [.none]), let client = described(found) else { throw unknown }
      return client
    case .secret(let id, let secret, _):
      let found = try await registered(id)
      guard hasher.isToken(secret, found?.record.secret), let client = found.flatMap(described) else { throw unknown }
      return client
    case .assertion(let text, let name):
      let assertion = try ClientAssertion(text)
      let found = try await registered(assertion.client, showing: [.privateKey])
      let client = found.flatMap(described) ?? Self.decoy
      let keys = client?.metadata.keys ?? []
      let right = try checked(assertion, with: found == nil ? [] : keys)
      guard let client, found != nil, name ?? assertion.client == assertion.client else {
        throw ClientAssertion.refused
      }
      try oauth.assertions.take(
        right, of: client.record.id, isStrange: client.record.origin != .operator, at: clock.now)
      return client
    }
  }

  private func checked(
    _ assertion: ClientAssertion, with keys: [JWK]
  ) throws(OAuthError) -> ClientAssertion.Checked {
    let metadata = oauth.metadata
    let audiences = [metadata.issuer] + ServerMetadata.Endpoint.allCases.map(metadata.address)
    return try assertion.check(with: keys, audiences: audiences, at: clock.now)
  }

  /// Verifies the assertion of the client that asked for a code, with the keys that the client had then.
  ///
  /// Returns nil when that fails. The client may have newer keys, so the caller then asks the store.
  func checked(
    _ text: String, _ name: ClientID?, of asked: AskedByClient
  ) -> ClientAssertion.Checked? {
    guard let keys = asked.keys.flatMap({ try? JWKSet(reading: Array($0.utf8)) }),
      let assertion = try? ClientAssertion(text), assertion.client == asked.client, name ?? asked.client == asked.client
    else { return nil }
    return try? checked(assertion, with: keys.keys)
  }

  /// Reads a client from the store; nil unless it uses one of these authentication methods.
  private func registered(
    _ id: ClientID, showing methods: Set<ClientMethod>? = nil
  ) async throws(StoreError) -> RegisteredClient? {
    let mark = store.standingMark
    let record = try await store.oauthClient(id)
    if let methods {
      // A record is parsed also when the client does not exist, so that timing does not reveal it.
      guard let method = (record ?? Self.decoyRecord).flatMap(AuthenticatedClient.method),
        methods.contains(method)
      else { return nil }
    }
    guard let record, provisioning.now.requestor(record.requestor) != nil else { return nil }
    return RegisteredClient(record: record, mark: mark)
  }

  /// Parses the metadata of a registered client, and caches the result.
  private func described(_ found: RegisteredClient) -> AuthenticatedClient? {
    guard let client = AuthenticatedClient(found.record) else { return nil }
    if let mark = found.mark { oauth.standing.keep(client, asOf: mark) }
    return client
  }

  /// A client record for requests with an unknown client id, so that refusing them takes the same time.
  ///
  /// It is parsed anew each time, because parsing the metadata is most of the work of refusing an existing client.
  private static var decoy: AuthenticatedClient? { decoyRecord.flatMap(AuthenticatedClient.init) }

  private static let decoyRecord: OAuthClientRecord? = {
    guard let id = ClientID("nobody"), let requestor = RequestorID("nobody"), let key = DecoyKeys.jwk else {
      return nil
    }
    let members: JSONObject = [
      "client_name": "Nobody", "token_endpoint_auth_method": .string(ClientMethod.privateKey.rawValue),
      "id_token_signed_response_alg": "ES256", "jwks": .object(JWKSet([key]).json),
    ]
    guard let metadata = try? ClientMetadata(reading: members) else { return nil }
    return OAuthClientRecord(
      id: id, requestor: requestor, origin: .operator, name: "Nobody",
      metadata: String(decoding: metadata.json.bytes(), as: UTF8.self), created: Instant(milliseconds: 0))
  }()
}

/// A client as the store returned it when the change counter (``GrantStore/standingMark``) had the value `mark`.
///
/// Its metadata is not parsed yet.
private struct RegisteredClient {
  let record: OAuthClientRecord
  let mark: UInt64?
}
