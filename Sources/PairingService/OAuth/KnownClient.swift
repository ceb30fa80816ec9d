internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentJSON
package import PairingStore
package import RegentOAuth
internal import RegentPairing

/// A client that has shown who it is.
package struct KnownClient: Sendable {
  package let record: OAuthClientRecord
  package let metadata: ClientMetadata

  package init?(_ record: OAuthClientRecord) {
    guard let members = (try? JSONValue(reading: Array(record.metadata.utf8)))?.object,
      let metadata = try? ClientMetadata(reading: members)
    else { return nil }
    self.record = record
    self.metadata = metadata
  }
}

extension ServiceCore {
  /// The client of a request.
  ///
  /// Who shows the right thing is heard whatever others at the same address try, as nobody guesses 256 bits; wrong ones
  /// are counted, and too many of them answered with 429.
  func client(_ shown: ClientAuthentication, _ request: Request) async throws -> KnownClient {
    do {
      return try await checked(shown)
    } catch let error as OAuthError where error.code == .invalidClient {
      let address = request.clientAddress
      metrics.count(.callsRefused)
      audit.note(
        .service, "client.refused", address?.description ?? "local", .refused, detail: error.code.rawValue,
        once: true, from: address)
      defer { limits.wrongClient(from: address) }
      try limits.mayTryClient(from: address)
      throw error
    }
  }

  private func checked(_ shown: ClientAuthentication) async throws -> KnownClient {
    let unknown = OAuthError(
      .invalidClient, "no client of this name and secret is known", asksForBasic: shown.isBasic)
    switch shown {
    case .name(let id, _):
      guard let client = try await registered(id), client.metadata.method == .none else { throw unknown }
      return client
    case .secret(let id, let secret, _):
      let client = try await registered(id)
      // Compared for an unknown client as well: the time does not tell which there are.
      guard hasher.isToken(secret, client?.record.secret), let client else { throw unknown }
      return client
    case .assertion(let text, let name):
      let assertion = try ClientAssertion(text)
      guard name == nil || name == assertion.client, let client = try await registered(assertion.client),
        client.metadata.method == .privateKey
      else { throw unknown }
      let metadata = oauth.metadata
      let now = clock.now
      let audiences = [metadata.issuer] + ServerMetadata.Endpoint.allCases.map(metadata.address)
      try oauth.assertions.take(
        try assertion.check(with: client.metadata.keys, audiences: audiences, at: now), at: now)
      return client
    }
  }

  private func registered(_ id: ClientID) async throws -> KnownClient? {
    guard let record = try await store.oauthClient(id), provisioning.now.requestor(record.requestor) != nil
    else { return nil }
    return KnownClient(record)
  }
}
