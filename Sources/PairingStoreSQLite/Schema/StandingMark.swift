import SQLite

extension Schema {
  /// Whether a change of a row may end a client, a grant or a record that they depend on (``GrantStore/standingMark``).
  ///
  /// All changes do, except those of the tables listed here. If a table is missing from the list, the only cost is that
  /// cached rows are read again. `Copies` deletes all rows of a table at once, and SQLite does not report these
  /// deletions row by row. That does no harm, because no service has that file open.
  static let mayEndStanding: @Sendable (String, DatabaseOptions.RowChange) -> Bool = { table, change in
    switch table {
    // A change of these tables ends no client, grant or sign-in, because those do not depend on them.
    case "registration", "live_code_count", "permit", "session", "audit", "audit_head", "numbers", "login_failure",
      "screen_name", "used_profile_request", "client", "enrolment", "client_invitation":
      false
    // An insertion ends no existing sign-in or client. If it replaces a row, that row is deleted first, and the
    // deletion is reported.
    case "authentication", "oauth_client": change != .insert
    // Only the deletion of a row ends a grant. An update stores the grant's next generation, which ends an older
    // refresh token.
    case "oauth_grant": change == .delete
    default: true
    }
  }
}
