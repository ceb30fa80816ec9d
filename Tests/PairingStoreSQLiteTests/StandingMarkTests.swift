@testable import PairingStoreSQLite
import SQLite
import Testing

/// Most ends touch several tables, so that each of them alone could be forgotten and no verb would show it.
@Suite struct `What moves the mark of a store` {
  @Test(arguments: [
    "requestor", "key_pair", "provider", "integration", "account", "application", "oauth_client", "authentication",
    "platform_box", "platform_permission", "temporary_pass", "password", "entitlement", "a table that is new",
  ])
  func `is a change, and an end, of whatever a grant stands on`(table: String) {
    for change in [DatabaseOptions.RowChange.update, .delete] { #expect(Schema.mayEndStanding(table, change)) }
  }

  @Test func `is the end of a grant, and not its next generation`() {
    #expect(Schema.mayEndStanding("oauth_grant", .delete))
    #expect(!Schema.mayEndStanding("oauth_grant", .update))
    #expect(!Schema.mayEndStanding("oauth_grant", .insert))
  }
}
