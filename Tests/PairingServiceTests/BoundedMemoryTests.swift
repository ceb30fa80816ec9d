import PairingStore
import RegentPairing
import Testing

@testable import PairingService

/// Tables in memory that grow with clients' calls: each has a limit, and a dropped entry is read again when needed.
@Suite struct `Bounded tables in memory` {
  private func id(_ number: Int) throws -> AuthenticationID { try #require(AuthenticationID("a\(number)")) }

  private func at(_ seconds: Int) -> Instant { Instant(milliseconds: 1_700_000_000_000) + .seconds(seconds) }

  @Test func `last uses: a full table drops its older half and keeps the newest, also when the clock stands still`()
    throws
  {
    let uses = LastUseTimes(most: 100)
    for number in 0..<150 { uses.note(try id(number), at: at(number)) }
    #expect(uses.count <= 100)
    #expect(uses.of(try id(149)) == at(149))
    #expect(uses.of(try id(0)) == nil)
    for number in 0..<1000 { uses.note(try id(1000 + number), at: at(0)) }
    #expect(uses.count <= 100)
    #expect(uses.of(try id(1999)) == at(0))
  }

  @Test func `verified access tokens: a full table is cleared and accepts the next token`() throws {
    let tokens = VerifiedTokens<AccessTokens.Claims>(most: 10)
    let claims = AccessTokens.Claims(
      client: try #require(ClientID("c")), application: try #require(StatementID("a")),
      requestor: try #require(RequestorID("r")), expires: at(0))
    for number in 0..<25 { tokens["token \(number)"] = claims }
    #expect(tokens.count <= 10)
    #expect(tokens["token 24"] == claims)
    #expect(tokens["token 0"] == nil)
  }

  @Test func `valid grants: a full table ignores new entries until old ones become invalid`() throws {
    var table = MarkedTable<Int, String>(most: 10)
    for number in 0..<25 { table.keep("\(number)", for: number, asOf: 1) }
    #expect(table.entries.count == 10)
    #expect(table.find(9, asOf: 1) == "9")
    #expect(table.find(24, asOf: 1) == nil)
    // Replacing an entry needs no room.
    table.keep("new", for: 9, asOf: 1)
    #expect(table.find(9, asOf: 1) == "new")
    // At a newer mark the earlier entries are invalid and make room.
    #expect(table.find(9, asOf: 2) == nil)
    table.keep("30", for: 30, asOf: 2)
    #expect(table.find(30, asOf: 2) == "30")
    #expect(table.entries.count == 1)
  }

  @Test func `uses of keys: those of removed keys are dropped, and the stored text reads back`() throws {
    let uses = KeyUseTimes()
    let keys = try (0..<20).map { try #require(PublicKey("key\($0)")) }
    for key in keys { uses.note(key, at: at(0)) }
    let kept = uses.all(of: keys.prefix(3))
    #expect(kept.count == 3)
    #expect(uses.all(of: keys).count == 3)
    let again = KeyUseTimes(keptAs: KeyUseTimes.text(of: kept))
    #expect(again.of(keys[0]) == at(0) && again.of(keys[10]) == nil)
    // A clock that was set back is accepted: the minute counts from the time seen last.
    again.note(keys[0], at: at(-500))
    #expect(again.of(keys[0]) == at(-500))
    #expect(KeyUseTimes(keptAs: "no JSON").of(keys[0]) == nil)
  }

  @Test func `the use of a key is recorded once a minute, and again when the clock was set back`() throws {
    let pair = KeyPair(
      publicKey: try #require(PublicKey("key")), requestor: try #require(RequestorID("A")), purpose: .calls,
      secret: StoredSecret([1, 2, 3]), created: at(0))
    let key = try #require(ProvisioningSnapshot.CallKey(pair, .standard))
    #expect(key.hasToNoteUse(at: at(0)))
    #expect(!key.hasToNoteUse(at: at(0)) && !key.hasToNoteUse(at: at(59)))
    #expect(key.hasToNoteUse(at: at(60)))
    #expect(!key.hasToNoteUse(at: at(119)))
    #expect(key.hasToNoteUse(at: at(-500)))
    #expect(!key.hasToNoteUse(at: at(-499)))
  }

  @Test func `changes of attributes: a full table is cleared, and no later report gives a time before that`() throws {
    let changes = AttributeChanges(at: at(0), most: 10)
    for number in 0..<10 { _ = changes.note(1, of: try id(number), since: at(-50), at: at(number)) }
    #expect(changes.note(1, of: try id(3), since: at(-50), at: at(20)) == at(0))
    #expect(changes.note(2, of: try id(3), since: at(-50), at: at(21)) == at(21))
    // The eleventh entry clears the table. Later reports give no time before that.
    #expect(changes.note(1, of: try id(10), since: at(-50), at: at(30)) == at(30))
    #expect(changes.note(1, of: try id(3), since: at(-50), at: at(31)) == at(30))
  }

  @Test func `operator names: looking up many user ids does not grow the table without limit`() {
    let names = OperatorNames()
    #expect(names.name(of: 0).text == "root")
    for user: UInt32 in 3_000_000_000..<3_000_001_500 { #expect(names.name(of: user).text == "uid \(user)") }
    #expect(names.count <= 1_000)
    #expect(names.name(of: 0).text == "root")
  }
}
