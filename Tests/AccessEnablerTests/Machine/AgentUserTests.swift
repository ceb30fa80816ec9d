import Testing

@testable import AccessEnabler

/// Whose daemon the SDK believes, besides root's and its own user's.
@Suite struct AgentUserTests {
  private static func agent(named name: String?, folderOwner: UInt32?) -> UInt32? {
    PlatformLink.agent(named: name, folderOwner: folderOwner) { ["regent": 100, "player": 200][$0] }
  }

  @Test func `a named user is the only one, whoever owns the folder`() {
    #expect(Self.agent(named: "player", folderOwner: 300) == 200)
    #expect(Self.agent(named: "missing", folderOwner: 300) == nil)
  }

  @Test func `without a name it is the owner of the folder, else the user regent`() {
    #expect(Self.agent(named: nil, folderOwner: 300) == 300)
    #expect(Self.agent(named: nil, folderOwner: nil) == 100)
  }
}
