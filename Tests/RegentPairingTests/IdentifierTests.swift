import RegentPairing
import Testing

@Suite struct `names` {
  @Test func `are compared byte by byte, whatever Unicode calls equal`() throws {
    let composed = try #require(AccountName("caf\u{E9}"))
    let decomposed = try #require(AccountName("cafe\u{301}"))
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed)
    #expect(composed == AccountName("caf\u{E9}"))
    #expect(Set([composed, decomposed]).count == 2)
    // "é" as one character begins with 0xC3, as two with "e".
    #expect(decomposed < composed && !(composed < decomposed))
  }

  @Test func `a rule for one account holds for no other`() throws {
    let provider = try #require(ProviderID("cable"))
    let rule = Entitlement(
      id: try #require(EntitlementID("one")), provider: provider,
      scope: .account(try #require(AccountName("caf\u{E9}"))),
      pattern: try #require(ResourcePattern("secret-1")), effect: .allow)
    func deciding(_ account: String) -> Entitlement? {
      [rule].deciding(about: "secret-1", for: AccountName(account), in: nil)
    }
    #expect(deciding("caf\u{E9}") == rule)
    #expect(deciding("cafe\u{301}") == nil)
  }
}
