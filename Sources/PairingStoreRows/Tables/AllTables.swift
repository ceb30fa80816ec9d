import RegentSQL

extension Tables {
  /// Every signed table: what is verified, and what goes along when a store is copied or moved.
  ///
  /// The pairs first: rows of a pair that does not verify fall with it. What only a cluster needs (who is there, what
  /// has changed, whose turn it is) is in no list here: it is made anew where a store arrives.
  static let all: [any SignedTable] = [
    keyPairs, signingKeys, requestors, providers, integrations, accounts, passwords, entitlements, applications,
    clients,
    boxes, platformPermissions, usedRequests, enrolments, oauthClients, grants, clientInvitations, registrations,
    authentications, permits, passes, sessions, screenNames, numbers, loginFailures, audit, auditHead,
  ]

  /// The tables whose rows are counted as they are written, because the order of writing says something: which
  /// entitlement is asked first, which pass and which failure are the oldest.
  static let inOrderOfWriting: Set<String> = [entitlements.name, passes.name, loginFailures.name]

  /// What all rows of a store are kept in.
  package static let names: [String] = [DataKeys.table] + all.map(\.name)
}

/// A table of which it does not matter what its rows mean.
protocol SignedTable: Sendable {
  var name: String { get }
  /// How many of the first columns are the primary key.
  var keyCount: Int { get }
  var columns: [Column] { get }

  /// How many of the rows that the condition finds verify.
  func countVerified<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ rows: SignedRows, where condition: SQL
  ) throws -> Int

  /// Whether a row with these values and this signature verifies.
  func verifies<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ rows: SignedRows, _ values: [SQLValue], _ signature: [UInt8]
  ) throws -> Bool
}

extension Table: SignedTable {
  func countVerified<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ rows: SignedRows, where condition: SQL
  ) throws -> Int {
    try rows.all(context, self, "\(all: self) WHERE \(part: condition)").count
  }

  func verifies<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ rows: SignedRows, _ values: [SQLValue], _ signature: [UInt8]
  ) throws -> Bool {
    try rows.verified(context, self, values, signature) != nil
  }
}
