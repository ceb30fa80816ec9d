internal import HTTPServer
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
package import PairingStore
package import RegentOAuth
internal import RegentPairing

/// A client that has shown who it is.
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

  /// How the client of a record shows itself; nothing else of what it registered is read.
  static func method(of record: OAuthClientRecord) -> ClientMethod? {
    (try? JSONValue(reading: Array(record.metadata.utf8)))?.object?["token_endpoint_auth_method"]?.string
      .flatMap(ClientMethod.init)
  }

  /// Whether it may know what an access token of a client is worth.
  ///
  /// Of others only when an operator made it: whoever registered itself would learn who is signed in where. A statement
  /// is no better, as it lies in every copy of its app, and whoever has the app registers with it.
  func mayAsk(about client: ClientID, of requestor: RequestorID) -> Bool {
    client == record.id || record.origin == .operator && requestor == record.requestor
  }
}

extension ServiceCore {
  /// The client of a request.
  ///
  /// Who shows the right thing is heard whatever others at the same address try, as nobody guesses 256 bits; wrong ones
  /// are counted, and too many of them answered with 429.
  func client(_ shown: ClientAuthentication, _ request: Request) async throws -> AuthenticatedClient {
    do {
      return try await checked(shown)
    } catch let error as OAuthError where error.code == .invalidClient {
      throw countedRefusal(error, request)
    }
  }

  /// The answer to what a client showed in vain, counted: whatever it was, and whether there is such a client or not,
  /// too many from one place are answered with 429.
  func countedRefusal(_ error: OAuthError, _ request: Request) -> any Error {
    do throws(CallError) {
      try countRefused(.program, error.code.rawValue, from: request.clientAddress)
    } catch {
      return error
    }
    return error
  }

  /// A client that shows what it has, as the store said it when the mark was this one.
  ///
  /// Nil says nothing: whoever shows something wrong, or a key, is looked up. So a name that is known here takes as
  /// long as one that nobody has, and of both a secret is compared.
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
      .invalidClient, "no client of this name and secret is known", asksForBasic: shown.isBasic)
    // What is refused is refused in the same words, and after the same work, whether there is such a client or not:
    // nobody is to learn so which there are.
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
      let client = found.flatMap(described) ?? Self.nobody
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

  /// An assertion of the client that asked for a code, with the keys that it had then; nil when it is not, or is of
  /// keys that came later: the store knows.
  func checked(
    _ text: String, _ name: ClientID?, of asked: AskedByClient
  ) -> ClientAssertion.Checked? {
    guard let keys = asked.keys.flatMap({ try? JWKSet(reading: Array($0.utf8)) }),
      let assertion = try? ClientAssertion(text), assertion.client == asked.client, name ?? asked.client == asked.client
    else { return nil }
    return try? checked(assertion, with: keys.keys)
  }

  /// What the store has of a client, if it shows itself in one of these ways.
  private func registered(
    _ id: ClientID, showing methods: Set<ClientMethod>? = nil
  ) async throws(StoreError) -> RegisteredClient? {
    let mark = store.standingMark
    let record = try await store.oauthClient(id)
    if let methods {
      // Read of nobody as well.
      guard let method = (record ?? Self.nobodysRecord).flatMap(AuthenticatedClient.method),
        methods.contains(method)
      else { return nil }
    }
    guard let record, provisioning.now.requestor(record.requestor) != nil else { return nil }
    return RegisteredClient(record: record, mark: mark)
  }

  /// A client with what it registered, remembered for the next time.
  private func described(_ found: RegisteredClient) -> AuthenticatedClient? {
    guard let client = AuthenticatedClient(found.record) else { return nil }
    if let mark = found.mark { oauth.standing.keep(client, asOf: mark) }
    return client
  }

  /// Made anew each time: reading what a client registered is most of the work of refusing it.
  private static var nobody: AuthenticatedClient? { nobodysRecord.flatMap(AuthenticatedClient.init) }

  private static let nobodysRecord: OAuthClientRecord? = {
    guard let id = ClientID("nobody"), let requestor = RequestorID("nobody"), let key = StandInKeys.jwk else {
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

/// A client as the store had it when the mark was this one; what it registered is not read yet.
private struct RegisteredClient {
  let record: OAuthClientRecord
  let mark: UInt64?
}
