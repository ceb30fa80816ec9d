import RegentHTTPCodec
import RegentJSON
public import RegentPairing

// Key pairs, software statements, signing keys, the master key.

extension AdminClient {
  /// Makes a key pair that signs a requestor's calls; its secret is in this answer and in no other.
  public func issueKey(to requestor: RequestorID) async throws(AdminError) -> IssuedKey {
    try await document(.post, AdminPaths.keys(of: requestor.text))
  }

  /// A requestor's key pairs.
  public func keys(of requestor: RequestorID) async throws(AdminError) -> [KeyPairEntry] {
    try await list(AdminPaths.keys(of: requestor.text))
  }

  /// One key pair of any requestor.
  public func key(_ key: PublicKey) async throws(AdminError) -> KeyPairEntry {
    try await document(.get, AdminPaths.one(AdminPaths.keys, key.text))
  }

  /// Makes nothing new with a key pair any more; what exists stays good.
  public func retireKey(_ key: PublicKey) async throws(AdminError) -> KeyPairEntry {
    try await document(.post, AdminPaths.act(AdminPaths.keys, key.text, "retire"))
  }

  /// Honours a key pair no more.
  ///
  /// With `rows` the requestor's devices are signed out, too.
  public func revokeKey(_ key: PublicKey, rows: Bool) async throws(AdminError) -> KeyPairEntry {
    try await document(
      .post, AdminPaths.act(AdminPaths.keys, key.text, "revoke"), ["rows": .bool(rows)])
  }

  /// Makes a software statement with which installations of an application register themselves.
  public func issueStatement(to requestor: RequestorID, application: String)
    async throws(AdminError) -> IssuedStatement
  {
    try await document(
      .post, AdminPaths.statements(of: requestor.text), ["application": .string(application)])
  }

  /// All software statements.
  public func statements() async throws(AdminError) -> [StatementEntry] {
    try await list(AdminPaths.statements)
  }

  /// One software statement.
  public func statement(_ id: StatementID) async throws(AdminError) -> StatementEntry {
    try await document(.get, AdminPaths.one(AdminPaths.statements, id.text))
  }

  /// Honours a statement, and every client that registered with it, no more.
  public func revokeStatement(_ id: StatementID) async throws(AdminError) -> StatementEntry {
    try await document(.post, AdminPaths.act(AdminPaths.statements, id.text, "revoke"))
  }

  /// Makes an enrolment code for a requestor's boxes; it is in this answer and in no other.
  public func invite(_ requestor: RequestorID, uses: Int, seconds: Int) async throws(AdminError) -> IssuedInvitation {
    try await document(
      .post, AdminPaths.invitations(of: requestor.text),
      ["uses": .integer(Int64(uses)), "seconds": .integer(Int64(seconds))])
  }

  /// The invitations that stand.
  public func invitations() async throws(AdminError) -> [InvitationEntry] { try await list(AdminPaths.invitations) }

  /// Ends an invitation; boxes that have redeemed it keep their key pairs.
  public func revokeInvitation(_ id: EnrolmentID) async throws(AdminError) {
    try await act(.post, AdminPaths.act(AdminPaths.invitations, id.text, "revoke"))
  }

  /// The keys that sign media tokens, oldest first.
  public func signingKeys() async throws(AdminError) -> [SigningKeyEntry] {
    try await list(AdminPaths.signingKeys)
  }

  /// One signing key.
  public func signingKey(_ id: SigningKeyID) async throws(AdminError) -> SigningKeyEntry {
    try await document(.get, AdminPaths.one(AdminPaths.signingKeys, id.text))
  }

  /// Makes a new signing key, which is published now and signs once every verifier can know it.
  public func rotateSigningKey(
    _ purpose: SigningPurpose = .media, algorithm: String? = nil
  ) async throws(AdminError) -> SigningKeyEntry {
    var members: JSONObject = ["purpose": .string(purpose.rawValue)]
    members["algorithm"] = algorithm.map(JSONValue.string)
    return try await document(.post, AdminPaths.rotateSigningKey, members)
  }

  /// Ends a signing key; it stays published until its last token has ended.
  public func retireSigningKey(_ id: SigningKeyID) async throws(AdminError) -> SigningKeyEntry {
    try await document(.post, AdminPaths.act(AdminPaths.signingKeys, id.text, "retire"))
  }

  /// Seals the data keys with a new master key.
  public func changeMasterKey() async throws(AdminError) -> Finding {
    try await document(.post, AdminPaths.changeMasterKey)
  }
}
