import Glibc
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

/// Signing out when the disk is full or another process writes at the same time.
@Suite struct `Signing out in the token store` {
  private let signIn = TokenStoreTests.signIn
  private var other: StoredAuthentication {
    var other = signIn
    other.signIn.userID = "another user"
    return other
  }

  private func store(_ folder: String) throws -> TokenStore {
    try TokenStore(.folder("\(folder)/state"), machineIDFile: "/nowhere")
  }

  @Test func `signing out needs no free disk space and survives a restart`() throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save(TokenStoreTests.changes.map { .tokens("SPORT", $0) } + [.tokens("NEWS", .authentication(signIn))])
      // Acts like a full disk for every user: a folder in place of the second file.
      #expect(unsafe mkdir("\(folder)/state/.tokens.new0", 0o700) == 0)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", .selected(nil))]) }
      #expect(one.unkeptSignOut(of: "SPORT") == nil, "there was no sign-out yet")
      try one.save([
        .tokens("SPORT", .signedOut), .tokens("SPORT", .unfinishedLogout(service: signIn.service, isOpen: true)),
      ])
      #expect(one.unkeptSignOut(of: "SPORT") == nil)
      let again = try store(folder)
      #expect(again.openingNews == nil)
      #expect(again.tokens(of: "SPORT").authentication == nil && again.tokens(of: "SPORT").permits.isEmpty)
      #expect(again.tokens(of: "SPORT").unfinishedLogouts.contains(signIn.service), "the service must still be told")
      #expect(again.tokens(of: "NEWS").authentication == signIn, "the other requestor's tokens stay")
    }
  }

  @Test func `a sign-out that is not on disk is reported until it is`() throws {
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
  func `a sign-out that could not be written does not end a later sign-in by another process`(end: StoreChange) throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save([.tokens("SPORT", .authentication(signIn)), .tokens("NEWS", .authentication(signIn))])
      try blockLock(folder)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", end), .tokens("NEWS", end)]) }
      try freeLock(folder)
      try store(folder).save([.tokens("SPORT", .authentication(other))])
      #expect(one.refresh() == nil)
      #expect(one.tokens(of: "SPORT").authentication == other, "another process signed in since")
      #expect(one.tokens(of: "NEWS").authentication == nil, "the other requestor got no new sign-in")
      try one.save([.serverTime(2)])
      let again = try store(folder)
      #expect(again.tokens(of: "SPORT").authentication == other && again.tokens(of: "NEWS").authentication == nil)
    }
  }

  @Test func `a delayed sign-out does not end a later sign-in even when the store was not read again`() throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save([.tokens("SPORT", .authentication(signIn))])
      try blockLock(folder)
      #expect(throws: FileError.self) { try one.save([.tokens("SPORT", .signedOut)]) }
      try freeLock(folder)
      try store(folder).save([.tokens("SPORT", .authentication(other))])
      try one.save([.serverTime(2)])
      #expect(one.tokens(of: "SPORT").authentication == other)
      // A sign-out requested now is newer than the stored sign-in.
      try store(folder).save([.tokens("SPORT", .authentication(signIn))])
      try one.save([.tokens("SPORT", .signedOut)])
      #expect(try store(folder).tokens(of: "SPORT").authentication == nil)
    }
  }

  /// Puts a folder in place of the lock, so that every write fails.
  private func blockLock(_ folder: String) throws {
    try DurableFile.remove("\(folder)/state/lock")
    #expect(unsafe mkdir("\(folder)/state/lock", 0o700) == 0)
  }

  private func freeLock(_ folder: String) throws { #expect(unsafe rmdir("\(folder)/state/lock") == 0) }
}
