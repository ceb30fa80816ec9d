import SQLite

extension Schema {
  /// Whether a change of a row may end a client, a grant or what these stand on (``GrantStore/standingMark``).
  ///
  /// Any may but these: a table that is new, or whose use was forgotten here, only costs a memory that is read again.
  /// `Copies` empties whole tables, which nobody is told of, in a file that no service has open.
  static let mayEndStanding: @Sendable (String, DatabaseOptions.RowChange) -> Bool = { table, change in
    switch table {
    // Nothing of OAuth stands on what these say.
    case "registration", "live_code_count", "permit", "session", "audit", "audit_head", "numbers", "login_failure",
      "screen_name", "used_profile_request", "client", "enrolment", "client_invitation":
      false
    // One more ends nothing; what it takes the place of is deleted beforehand.
    case "authentication", "oauth_client": change != .insert
    // The next generation of a grant ends an older token, and no grant.
    case "oauth_grant": change == .delete
    default: true
    }
  }
}
