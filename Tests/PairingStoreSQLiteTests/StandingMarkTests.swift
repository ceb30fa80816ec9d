@testable import PairingStoreSQLite
import SQLite
import Testing

/// Most ends of a sign-in change several tables, so a test through the store's functions would not notice that one
/// table is missing.
@Suite struct `Changes that invalidate cached grants` {
  @Test(arguments: [
    "requestor", "key_pair", "provider", "integration", "account", "application", "oauth_client", "authentication",
    "platform_box", "platform_permission", "temporary_pass", "password", "entitlement", "a table that is new",
  ])
  func `an update or delete in any table that a grant depends on invalidates cached grants`(table: String) {
    for change in [DatabaseOptions.RowChange.update, .delete] { #expect(Schema.mayEndStanding(table, change)) }
  }

  @Test func `deleting a grant invalidates cached grants, and rotating its generation does not`() {
    #expect(Schema.mayEndStanding("oauth_grant", .delete))
    #expect(!Schema.mayEndStanding("oauth_grant", .update))
    #expect(!Schema.mayEndStanding("oauth_grant", .insert))
  }
}
