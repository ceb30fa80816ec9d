import RegentHTTPCodec
public import RegentJSON
public import RegentPairing

// Clients that speak OAuth, and what they were given.

extension AdminClient {
  /// Makes a client; its secret is in this answer and in no other.
  ///
  /// The members are those that `regentctl client add` has.
  public func addClient(to requestor: RequestorID, _ members: JSONObject) async throws(AdminError) -> IssuedClient {
    try await document(.post, AdminPaths.clients(of: requestor.text), members)
  }

  /// All clients, or those of one requestor.
  public func clients(of requestor: RequestorID? = nil) async throws(AdminError) -> [ClientEntry] {
    try await wholeList(AdminPaths.clients, query: [("requestor", requestor?.text)]) { $0.id.text }
  }

  /// One client.
  public func client(_ id: ClientID) async throws(AdminError) -> ClientEntry {
    try await document(.get, AdminPaths.one(AdminPaths.clients, id.text))
  }

  /// Changes what a client may have, or what it is called.
  public func setClient(_ id: ClientID, _ members: JSONObject) async throws(AdminError) -> ClientEntry {
    try await document(.patch, AdminPaths.one(AdminPaths.clients, id.text), members)
  }

  /// Removes a client with all that it was given.
  ///
  /// - Returns: how many devices are signed out.
  public func removeClient(_ id: ClientID) async throws(AdminError) -> Tally {
    try await document(.delete, AdminPaths.one(AdminPaths.clients, id.text))
  }

  /// Makes a token with which clients register themselves; it is in this answer and in no other.
  public func inviteClients(
    of requestor: RequestorID, uses: Int, seconds: Int
  ) async throws(AdminError) -> IssuedClientInvitation {
    try await document(
      .post, AdminPaths.clientInvitations(of: requestor.text),
      ["uses": .integer(Int64(uses)), "seconds": .integer(Int64(seconds))])
  }

  /// The tokens that stand.
  public func clientInvitations() async throws(AdminError) -> [ClientInvitationEntry] {
    try await list(AdminPaths.clientInvitations)
  }

  /// Ends a token; clients that registered with it stay.
  public func revokeClientInvitation(_ id: EnrolmentID) async throws(AdminError) {
    try await act(.post, AdminPaths.act(AdminPaths.clientInvitations, id.text, "revoke"))
  }

  /// What clients were given.
  public func grants(of client: ClientID? = nil) async throws(AdminError) -> [GrantEntry] {
    try await wholeList(AdminPaths.grants, query: [("client", client?.text)]) { $0.id.text }
  }

  /// Ends a grant, and the sign-in that it stands on.
  public func revokeGrant(_ id: GrantID) async throws(AdminError) -> Tally {
    try await document(.post, AdminPaths.act(AdminPaths.grants, id.text, "revoke"))
  }
}
