internal import Administration
internal import PairingStore
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing
internal import RegentPairingWire

// Admin routes for OAuth clients and their grants.

extension AdminRouteBuilder {
  mutating func mountClients() {
    on(.post, AdminPaths.clients(of: "{requestor}")) { call throws(AdminError) in
      .document(try await call.addClient())
    }
    on(.get, AdminPaths.clients) { call throws(AdminError) in
      let requestor: RequestorID? = try call.optionalIdentifier(parameter: "requestor", "requestor")
      let after: ClientID? = try call.optionalIdentifier(parameter: "after", "client")
      let limit = try call.limit()
      let records = try await stored { () throws(StoreError) in
        try await call.core.store.oauthClients(of: requestor, after: after, limit: limit)
      }
      return .list(of: records.compactMap(ClientEntry.init))
    }
    on(.get, AdminPaths.one(AdminPaths.clients, "{client}")) { call throws(AdminError) in
      .document(try call.entry(of: try await call.client()))
    }
    on(.patch, AdminPaths.one(AdminPaths.clients, "{client}")) { call throws(AdminError) in
      .document(try await call.setClient())
    }
    on(.delete, AdminPaths.one(AdminPaths.clients, "{client}")) { call throws(AdminError) in
      let client = try await call.client()
      let line = call.entry("client.remove", client.id.text, detail: client.name.quoted)
      let ended = try await stored { () throws(StoreError) in
        try await call.core.signInTransitions.removeClient(client.id, audit: line)
      }
      return .document(CountDocument(ended.count))
    }
  }

  mutating func mountGrants() {
    on(.get, AdminPaths.grants) { call throws(AdminError) in
      let client: ClientID? = try call.optionalIdentifier(parameter: "client", "client")
      let after: GrantID? = try call.optionalIdentifier(parameter: "after", "grant")
      let limit = try call.limit()
      let grants = try await stored { () throws(StoreError) in
        try await call.core.store.grants(GrantFilter(client: client), after: after, limit: limit, at: call.now)
      }
      var entries: [GrantEntry] = []
      // Each grant is read separately, because its row does not show the state of its sign-in and client.
      for grant in grants {
        entries.append(
          GrantEntry(grant, try await stored { () throws(StoreError) in try await call.core.state(of: grant.id) }))
      }
      return .list(of: entries)
    }
    on(.post, AdminPaths.act(AdminPaths.grants, "{grant}", "revoke")) { call throws(AdminError) in
      let grant = try await call.lookUp("grant", call.text("grant"), \.id) { (after, limit) throws(StoreError) in
        try await call.core.store.grants(GrantFilter(), after: after, limit: limit, at: call.now)
      }
      let line = call.entry("grant.revoke", grant.id.text, detail: grant.client.text)
      let ended = try await stored { () throws(StoreError) in
        try await call.core.signInTransitions.endGrants(GrantFilter(id: grant.id), audit: line)
      }
      return .document(CountDocument(ended.count))
    }
  }
}

extension AdminCall {
  fileprivate func client() async throws(AdminError) -> OAuthClientRecord {
    try await lookUp("client", text("client"), \.id) { (after, limit) throws(StoreError) in
      try await core.store.oauthClients(of: nil, after: after, limit: limit)
    }
  }

  fileprivate func entry(of record: OAuthClientRecord) throws(AdminError) -> ClientEntry {
    guard let entry = ClientEntry(record) else { throw AdminError(.failed, "the client's row cannot be read") }
    return entry
  }

  fileprivate func addClient() async throws(AdminError) -> IssuedClient {
    let requestor = try requestor()
    let asked = try body
    let kind = try shaped { () throws(JSONShapeError) in
      try asked["kind"].map { _ throws(JSONShapeError) in try ClientKind(member: "kind", of: asked) } ?? .public
    }
    let metadata = try metadata(asked, kind)
    guard let name = metadata.name, let id = ClientID(Random.uuid()) else {
      throw AdminError(.invalid, "a client needs a name; the phone shows it")
    }
    guard !requestor.numberMatching else {
      throw AdminError(
        .refused, "\(requestor.id) uses number matching, which OAuth clients do not support",
        hint: "run regentctl requestor set \(requestor.id) --number-matching off")
    }
    let secret = kind == .secret ? Random.token() : nil
    let record = OAuthClientRecord(
      id: id, requestor: requestor.id, origin: .operator, name: name, secret: secret.map(core.hasher.token),
      metadata: String(decoding: metadata.json.bytes(), as: UTF8.self), audience: try audience(asked), created: now)
    let line = entry("client.add", id.text, detail: "\(requestor.id) \(name.quoted)")
    try await stored { () throws(StoreError) in
      try await core.store.put(record, replacing: nil, in: .unlimited, audit: line, at: now)
    }
    // The signing key is created now, so that it is published before a client receives a token signed with it.
    do {
      _ = try await core.oauth.key(metadata.algorithm, at: now)
    } catch {
      throw AdminError(.failed, "could not create a signing key: \(error)")
    }
    return IssuedClient(id: id, secret: secret, issuer: core.oauth.metadata.issuer)
  }

  fileprivate func setClient() async throws(AdminError) -> ClientEntry {
    let record = try await client()
    guard let known = AuthenticatedClient(record) else { throw AdminError(.failed, "the client's row cannot be read") }
    let asked = try body
    var members = known.metadata.json
    members["scope"] = try scope(asked) ?? members["scope"]
    members["client_name"] = asked["name"] ?? members["client_name"]
    members["id_token_signed_response_alg"] = asked["algorithm"] ?? members["id_token_signed_response_alg"]
    let metadata = try read(members)
    var changed = record
    changed.name = metadata.name ?? record.name
    changed.metadata = String(decoding: metadata.json.bytes(), as: UTF8.self)
    if asked["audience"] != nil { changed.audience = try audience(asked) }
    let line = entry("client.set", record.id.text, detail: changed.name.quoted)
    let (seen, next) = (record, changed)
    try await stored { () throws(StoreError) in
      try await core.store.put(next, replacing: seen, in: .unlimited, audit: line, at: now)
    }
    return try entry(of: changed)
  }

  private func metadata(_ asked: JSONObject, _ kind: ClientKind) throws(AdminError) -> ClientMetadata {
    var members: JSONObject = ["token_endpoint_auth_method": .string(kind.method.rawValue)]
    members["client_name"] = asked["name"]
    members["scope"] = try scope(asked)
    members["id_token_signed_response_alg"] = asked["algorithm"]
    members["jwks"] = asked["jwks"]
    return try read(members)
  }

  private func read(_ members: JSONObject) throws(AdminError) -> ClientMetadata {
    do throws(OAuthError) {
      return try ClientMetadata(reading: members)
    } catch {
      throw AdminError(.invalid, error.sentence)
    }
  }

  /// Checks the scope that an operator allows a client.
  ///
  /// A scope with an unknown name is refused as a typing mistake.
  private func scope(_ asked: JSONObject) throws(AdminError) -> JSONValue? {
    guard let text = try shaped({ () throws(JSONShapeError) in try asked.optionalString("scope") }) else { return nil }
    let names = Scope.Name.allCases.map(\.rawValue).joined(separator: ", ")
    if let word = Scope.unknown(in: text).first {
      let shown = CleanText.line(String(word), longest: 64) ?? ""
      throw AdminError(.invalid, "there is no scope \"\(shown)\"", hint: "use one or more of \(names)")
    }
    guard text.contains(where: { $0 != " " }) else {
      throw AdminError(.invalid, "the scope is empty", hint: "use one or more of \(names)")
    }
    return .string(text)
  }

  /// Reads the audience of a client's access tokens: a URL, or nil for the service itself when the text is empty.
  private func audience(_ asked: JSONObject) throws(AdminError) -> String? {
    let text = try shaped { () throws(JSONShapeError) in try asked.optionalString("audience") }
    guard let text, !text.isEmpty else { return nil }
    guard text.utf8.count <= 512, (try? AbsoluteURL(parsing: text)) != nil else {
      throw AdminError(.invalid, "the audience must be a web address, such as https://api.example.org")
    }
    return text
  }
}

extension ClientKind {
  fileprivate var method: ClientMethod {
    switch self {
    case .public: .none
    case .secret: .basic
    case .keys: .privateKey
    }
  }

  fileprivate init(_ method: ClientMethod) {
    switch method {
    case .none: self = .public
    case .basic, .post: self = .secret
    case .privateKey: self = .keys
    }
  }
}

extension ClientEntry {
  init?(_ record: OAuthClientRecord) {
    guard let client = AuthenticatedClient(record) else { return nil }
    self.init(
      id: record.id, requestor: record.requestor, name: record.name, origin: record.origin.rawValue,
      kind: ClientKind(client.metadata.method), algorithm: client.metadata.algorithm.rawValue,
      scope: client.metadata.scope.text, audience: record.audience, created: record.created)
  }
}

extension GrantEntry {
  init(_ grant: GrantRecord, _ state: GrantState) {
    let name: String?
    let word: String
    switch state {
    case .stands(let standing): (name, word) = (standing.client.name, "good")
    case .paused(let paused): (name, word) = (paused.client.name, "paused")
    case .ended: (name, word) = (nil, "over")
    }
    let who = state.signIn?.authentication.viewer
    let viewer = who.flatMap { who in who.account.map { "\(who.provider)/\($0)" } }
    self.init(
      id: grant.id, client: grant.client, name: name, viewer: viewer, state: word, scope: grant.scope,
      bound: grant.thumbprint != nil, created: grant.created, used: grant.rotated, expires: grant.expires)
  }
}
