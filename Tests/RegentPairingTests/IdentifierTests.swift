import RegentPairing
import Testing

@Suite struct `Identifiers compared by bytes` {
  @Test func `identifiers are compared byte by byte, even when Unicode treats them as equal`() throws {
    let composed = try #require(AccountName("caf\u{E9}"))
    let decomposed = try #require(AccountName("cafe\u{301}"))
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed)
    #expect(composed == AccountName("caf\u{E9}"))
    #expect(Set([composed, decomposed]).count == 2)
    // U+00E9 begins with the byte 0xC3, the decomposed form with "e".
    #expect(decomposed < composed && !(composed < decomposed))
  }

  @Test func `a rule for one account does not apply to an account name that Unicode treats as equal`() throws {
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
