import Glibc
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

/// The end of a sign-in, where the disk takes nothing or others write meanwhile.
@Suite struct `A sign-out in the token store` {
  private let signIn = TokenStoreTests.signIn
  private var other: StoredAuthentication {
    var other = signIn
    other.signIn.userID = "another user"
    return other
  }

  private func store(_ folder: String) throws -> TokenStore {
    try TokenStore(.folder("\(folder)/state"), machineIDFile: "/nowhere")
  }

  @Test func `needs no room, and a restart does not undo it`() throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save(TokenStoreTests.changes.map { .tokens("SPORT", $0) } + [.tokens("NEWS", .authentication(signIn))])
      // As good as a full disk, and the same for every user: a folder where the second file would go.
      #expect(unsafe mkdir("\(folder)/state/.tokens.new0", 0o700) == 0)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", .selected(nil))]) }
      #expect(one.unkeptSignOut(of: "SPORT") == nil, "no sign-out")
      try one.save([
        .tokens("SPORT", .signedOut), .tokens("SPORT", .unfinishedLogout(service: signIn.service, isOpen: true)),
      ])
      #expect(one.unkeptSignOut(of: "SPORT") == nil)
      let again = try store(folder)
      #expect(again.openingNews == nil)
      #expect(again.tokens(of: "SPORT").authentication == nil && again.tokens(of: "SPORT").permits.isEmpty)
      #expect(again.tokens(of: "SPORT").unfinishedLogouts.contains(signIn.service), "the service is to be told still")
      #expect(again.tokens(of: "NEWS").authentication == signIn, "others' tokens stay")
    }
  }

  @Test func `says that it is not on the disk, until it is`() throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save([.tokens("SPORT", .authentication(signIn)), .tokens("NEWS", .authentication(signIn))])
      try blockLock(folder)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", .signedOut)]) }
      #expect(one.tokens(of: "SPORT").authentication == nil)
      #expect(one.unkeptSignOut(of: "SPORT") != nil && one.unkeptSignOut(of: "NEWS") == nil)
      #expect(try store(folder).tokens(of: "SPORT").authentication == signIn)
      try freeLock(folder)
      try one.save([.serverTime(2)])
      #expect(one.unkeptSignOut(of: "SPORT") == nil)
      #expect(try store(folder).tokens(of: "SPORT").authentication == nil)
    }
  }

  @Test(arguments: [StoreChange.signedOut, .authentication(nil)])
  func `that could not be written does not end the sign-in that comes after it`(end: StoreChange) throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save([.tokens("SPORT", .authentication(signIn)), .tokens("NEWS", .authentication(signIn))])
      try blockLock(folder)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", end), .tokens("NEWS", end)]) }
      try freeLock(folder)
      try store(folder).save([.tokens("SPORT", .authentication(other))])
      #expect(one.refresh() == nil)
      #expect(one.tokens(of: "SPORT").authentication == other, "another process signed in since")
      #expect(one.tokens(of: "NEWS").authentication == nil, "nobody did there")
      try one.save([.serverTime(2)])
      let again = try store(folder)
      #expect(again.tokens(of: "SPORT").authentication == other && again.tokens(of: "NEWS").authentication == nil)
    }
  }

  @Test func `that is written without a look before ends nothing newer either`() throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save([.tokens("SPORT", .authentication(signIn))])
      try blockLock(folder)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", .signedOut)]) }
      try freeLock(folder)
      try store(folder).save([.tokens("SPORT", .authentication(other))])
      try one.save([.serverTime(2)])
      #expect(one.tokens(of: "SPORT").authentication == other)
      // What is said now is newer than what lies there.
      try store(folder).save([.tokens("SPORT", .authentication(signIn))])
      try one.save([.tokens("SPORT", .signedOut)])
      #expect(try store(folder).tokens(of: "SPORT").authentication == nil)
    }
  }

  /// Where a folder lies in the lock's place nobody writes.
  private func blockLock(_ folder: String) throws {
    try DurableFile.remove("\(folder)/state/lock")
    #expect(unsafe mkdir("\(folder)/state/lock", 0o700) == 0)
  }

  private func freeLock(_ folder: String) throws { #expect(unsafe rmdir("\(folder)/state/lock") == 0) }
}
