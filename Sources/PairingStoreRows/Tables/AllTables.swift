import RegentSQL

extension Tables {
  /// All signed tables.
  ///
  /// They are verified, and copied when a store is backed up or moved.
  ///
  /// Key pairs come first, because the rows of a requestor cannot be verified without its pair. Tables that only a
  /// cluster needs (nodes, change log, duties) are not listed: the target of a copy creates them anew.
  static let all: [any SignedTable] = [
    keyPairs, signingKeys, requestors, providers, integrations, accounts, passwords, entitlements, applications,
    clients,
    boxes, platformPermissions, usedRequests, enrolments, oauthClients, grants, clientInvitations, registrations,
    authentications, permits, passes, sessions, screenNames, numbers, loginFailures, audit, auditHead,
  ]

  /// Tables whose `rowid` matters, because it shows the order of writing.
  ///
  /// That order says which entitlement is evaluated first, and which temporary passes and login failures are the
  /// oldest.
  static let inOrderOfWriting: Set<String> = [entitlements.name, passes.name, loginFailures.name]

  /// The names of all tables that hold a store's data, with the table of data keys first.
  package static let names: [String] = [DataKeys.table] + all.map(\.name)
}

/// The operations on a signed table that do not depend on its record type.
protocol SignedTable: Sendable {
  var name: String { get }
  /// The number of leading columns that form the primary key.
  var keyCount: Int { get }
  var columns: [Column] { get }
  var unique: [String] { get }
  var indexes: [Index] { get }

  /// Counts the rows selected by the condition whose signatures verify.
  func countVerified<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ rows: SignedRows, where condition: SQL
  ) throws -> Int

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
