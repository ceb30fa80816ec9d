import RegentHTTPCodec
public import RegentJSON
public import RegentPairing

// Calls of the admin client for OAuth clients and their grants.

extension AdminClient {
  /// Makes an OAuth client of a requestor.
  ///
  /// Only this response contains the client's secret. `members` are the options of `regentctl client add`.
  public func addClient(to requestor: RequestorID, _ members: JSONObject) async throws(AdminError) -> IssuedClient {
    try await document(.post, AdminPaths.clients(of: requestor.text), members)
  }

  /// All OAuth clients, or those of one requestor.
  public func clients(of requestor: RequestorID? = nil) async throws(AdminError) -> [ClientEntry] {
    try await wholeList(AdminPaths.clients, query: [("requestor", requestor?.text)]) { $0.id.text }
  }

  public func client(_ id: ClientID) async throws(AdminError) -> ClientEntry {
    try await document(.get, AdminPaths.one(AdminPaths.clients, id.text))
  }

  /// Changes the scope, name or other metadata of an OAuth client.
  public func setClient(_ id: ClientID, _ members: JSONObject) async throws(AdminError) -> ClientEntry {
    try await document(.patch, AdminPaths.one(AdminPaths.clients, id.text), members)
  }

  /// Removes an OAuth client with all its grants, and returns how many devices were signed out.
  public func removeClient(_ id: ClientID) async throws(AdminError) -> CountDocument {
    try await document(.delete, AdminPaths.one(AdminPaths.clients, id.text))
  }

  /// Makes an initial access token with which clients register themselves.
  ///
  /// Only this response contains the token.
  public func inviteClients(
    of requestor: RequestorID, uses: Int, seconds: Int
  ) async throws(AdminError) -> IssuedClientInvitation {
    try await document(
      .post, AdminPaths.clientInvitations(of: requestor.text),
      ["uses": .integer(Int64(uses)), "seconds": .integer(Int64(seconds))])
  }

  /// The valid initial access tokens, without their secrets.
  public func clientInvitations() async throws(AdminError) -> [ClientInvitationEntry] {
    try await list(AdminPaths.clientInvitations)
  }

  /// Revokes an initial access token for OAuth clients; clients that registered with it stay.
  public func revokeClientInvitation(_ id: EnrolmentID) async throws(AdminError) {
    try await act(.post, AdminPaths.act(AdminPaths.clientInvitations, id.text, "revoke"))
  }

  /// The grants that viewers gave all OAuth clients, or one of them.
  public func grants(of client: ClientID? = nil) async throws(AdminError) -> [GrantEntry] {
    try await wholeList(AdminPaths.grants, query: [("client", client?.text)]) { $0.id.text }
  }

  /// Revokes an OAuth client's grant and ends its sign-in.
  public func revokeGrant(_ id: GrantID) async throws(AdminError) -> CountDocument {
    try await document(.post, AdminPaths.act(AdminPaths.grants, id.text, "revoke"))
  }
}
