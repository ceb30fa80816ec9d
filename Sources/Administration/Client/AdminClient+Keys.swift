import RegentHTTPCodec
import RegentJSON
public import RegentPairing

extension AdminClient {
  /// Makes a key pair that signs the requests of a requestor's apps.
  ///
  /// Only this response contains its secret.
  public func issueKey(to requestor: RequestorID) async throws(AdminError) -> IssuedKey {
    try await document(.post, AdminPaths.keys(of: requestor.text))
  }

  public func keys(of requestor: RequestorID) async throws(AdminError) -> [KeyPairEntry] {
    try await list(AdminPaths.keys(of: requestor.text))
  }

  public func key(_ key: PublicKey) async throws(AdminError) -> KeyPairEntry {
    try await document(.get, AdminPaths.one(AdminPaths.keys, key.text))
  }

  /// Retires a key pair: it signs nothing new, and what it has signed stays valid.
  public func retireKey(_ key: PublicKey) async throws(AdminError) -> KeyPairEntry {
    try await document(.post, AdminPaths.act(AdminPaths.keys, key.text, "retire"))
  }

  /// Revokes a key pair: requests that it signs are refused from now on.
  ///
  /// With `rows`, which revokes the pair that signs the requestor's database rows, the requestor's devices are also
  /// signed out.
  public func revokeKey(_ key: PublicKey, rows: Bool) async throws(AdminError) -> KeyPairEntry {
    try await document(
      .post, AdminPaths.act(AdminPaths.keys, key.text, "revoke"), ["rows": .bool(rows)])
  }

  /// Makes a software statement, with which installations of an application register themselves as clients.
  public func issueStatement(to requestor: RequestorID, application: String)
    async throws(AdminError) -> IssuedStatement
  {
    try await document(
      .post, AdminPaths.statements(of: requestor.text), ["application": .string(application)])
  }

  public func statements() async throws(AdminError) -> [StatementEntry] {
    try await list(AdminPaths.statements)
  }

  public func statement(_ id: StatementID) async throws(AdminError) -> StatementEntry {
    try await document(.get, AdminPaths.one(AdminPaths.statements, id.text))
  }

  /// Revokes a software statement and every client that registered with it.
  public func revokeStatement(_ id: StatementID) async throws(AdminError) -> StatementEntry {
    try await document(.post, AdminPaths.act(AdminPaths.statements, id.text, "revoke"))
  }

  /// Makes an invitation for new boxes of a requestor.
  ///
  /// Only this response contains its code.
  public func invite(_ requestor: RequestorID, uses: Int, seconds: Int) async throws(AdminError) -> IssuedInvitation {
    try await document(
      .post, AdminPaths.invitations(of: requestor.text),
      ["uses": .integer(Int64(uses)), "seconds": .integer(Int64(seconds))])
  }

  /// The valid invitations, without their codes.
  public func invitations() async throws(AdminError) -> [InvitationEntry] { try await list(AdminPaths.invitations) }

  /// Revokes an invitation; boxes that have redeemed it keep their key pairs.
  public func revokeInvitation(_ id: EnrolmentID) async throws(AdminError) {
    try await act(.post, AdminPaths.act(AdminPaths.invitations, id.text, "revoke"))
  }

  /// The keys that sign tokens, oldest first.
  public func signingKeys() async throws(AdminError) -> [SigningKeyEntry] {
    try await list(AdminPaths.signingKeys)
  }

  public func signingKey(_ id: SigningKeyID) async throws(AdminError) -> SigningKeyEntry {
    try await document(.get, AdminPaths.one(AdminPaths.signingKeys, id.text))
  }

  /// Makes a new key for signing tokens.
  ///
  /// It is published now, and signs when every verifier has had time to fetch it.
  public func rotateSigningKey(
    _ purpose: SigningPurpose = .media, algorithm: String? = nil
  ) async throws(AdminError) -> SigningKeyEntry {
    var members: JSONObject = ["purpose": .string(purpose.rawValue)]
    members["algorithm"] = algorithm.map(JSONValue.string)
    return try await document(.post, AdminPaths.rotateSigningKey, members)
  }

  /// Retires a key for signing tokens; it stays published until the last token that it signed has expired.
  public func retireSigningKey(_ id: SigningKeyID) async throws(AdminError) -> SigningKeyEntry {
    try await document(.post, AdminPaths.act(AdminPaths.signingKeys, id.text, "retire"))
  }

  /// Makes the service encrypt its data keys with a new master key.
  public func changeMasterKey() async throws(AdminError) -> Finding {
    try await document(.post, AdminPaths.changeMasterKey)
  }
}
