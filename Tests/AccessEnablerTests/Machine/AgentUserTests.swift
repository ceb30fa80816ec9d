import Testing

@testable import AccessEnabler

/// Which Unix user's agent the SDK trusts, besides root's and the app's own user's.
@Suite struct AgentUserTests {
  private static func agent(named name: String?, folderOwner: UInt32?) -> UInt32? {
    PlatformLink.agent(named: name, folderOwner: folderOwner) { ["regent": 100, "player": 200][$0] }
  }

  @Test func `with a configured user name only that user's agent is trusted, whatever user owns the folder`() {
    #expect(Self.agent(named: "player", folderOwner: 300) == 200)
    #expect(Self.agent(named: "missing", folderOwner: 300) == nil)
  }

  @Test func `without a configured user name the agent's user is the folder's owner, else the user regent`() {
    #expect(Self.agent(named: nil, folderOwner: 300) == 300)
    #expect(Self.agent(named: nil, folderOwner: nil) == 100)
  }
}
