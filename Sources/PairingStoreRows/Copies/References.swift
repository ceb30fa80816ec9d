import RegentSQL

/// A foreign key between two tables, used to detect deleted rows: a deleted row leaves no signature behind, but other
/// rows still name it.
///
/// The list contains only references that every store operation cleans up when it removes a row. Other references may
/// legitimately point to deleted rows. For example, a stored list of names may still name a client that a viewer has
/// removed.
struct Reference: Sendable {
  let table: String
  let columns: [String]
  let target: String
  let targetColumns: [String]

  private init(_ table: String, _ columns: String..., to target: String, _ targetColumns: String...) {
    (self.table, self.columns, self.target, self.targetColumns) = (table, columns, target, targetColumns)
  }

  static let all =
    [
      "key_pair", "integration", "application", "client", "oauth_client", "enrolment", "client_invitation",
      "platform_permission", "registration", "authentication", "temporary_pass",
    ].map { Reference($0, "requestor", to: "requestor", "id") }
    + ["integration", "account", "entitlement", "authentication", "temporary_pass", "session"].map {
      Reference($0, "provider", to: "provider", "id")
    }
    + ["permit", "platform_box", "oauth_grant"].map { Reference($0, "authentication", to: "authentication", "id") }
    + [
      Reference("password", "provider", "name", to: "account", "provider", "name"),
      Reference("client", "application", to: "application", "id"),
    ]

  /// A message about rows whose referenced row is missing; nil when no rows lack it.
  func loose<Context: Querying & ~Copyable>(in context: borrowing Context) throws -> String? {
    let same = zip(columns, targetColumns).map { "target.\($1) = source.\($0)" }.joined(separator: " AND ")
    let count: Int =
      try context.value(
        """
        SELECT count(*) FROM \(unsafeRawSQL: table) AS source
        WHERE NOT EXISTS (SELECT 1 FROM \(unsafeRawSQL: target) AS target WHERE \(unsafeRawSQL: same))
        """) ?? 0
    guard count != 0 else { return nil }
    let rows = count == 1 ? "1 row of \(table) stands" : "\(count) rows of \(table) stand"
    return "\(rows) on a row of \(target) that is not there"
  }
}
