import Glibc
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

@Suite("Token store")
struct TokenStoreTests {
  static let signIn = StoredAuthentication(
    signIn: SignIn(
      provider: MVPD(
        id: "CABLE", displayName: "Câble", logoURL: "https://x.example/l.png",
        enablePlatformServices: true, boardingStatus: .picker, isFeatured: true),
      userID: "user", expires: Instant(milliseconds: 1_900_000_000_000)),
    service: "https://one.example")

  /// One change of each kind that a store holds.
  static let changes: [StoreChange] = [
    .authentication(signIn), .selected(signIn.signIn.provider),
    .permit(
      "<rss>\"</rss>",
      StoredPermit(expires: Instant(milliseconds: 1_800_000_000_000), source: .degradation)),
    .pending(
      PendingCode(
        offer: RegistrationOffer(
          code: "BCDFGHJK", display: "BCDF-GHJK", url: "https://one.example",
          urlComplete: "HTTPS://ONE.EXAMPLE/D/BCDFGHJK",
          expires: Instant(milliseconds: 1_900_000_000_000), provider: signIn.signIn.provider,
          service: "https://one.example"))),
    .unfinishedLogout(service: "https://two.example", isOpen: true),
  ]

  func store(_ folder: String, machine: String = "/nowhere") throws -> TokenStore {
    try TokenStore(.folder("\(folder)/state"), machineIDFile: machine)
  }

  @Test func `the tokens of each requestor are still stored after a restart`() throws {
    try withTemporaryFolder { folder in
      let first = try store(folder)
      try first.save(Self.changes.map { .tokens("SPORT", $0) })
      try first.save([.tokens("NEWS", .selected(Self.signIn.signIn.provider))])
      try first.save([.client("k", RegisteredClient(id: "i", secret: "s")), .serverTime(5)])
      let second = try store(folder)
      #expect(second.openingNews == nil)
      #expect(second.installation.deviceID == first.installation.deviceID)
      #expect(second.tokens(of: "SPORT") == first.tokens(of: "SPORT"))
      #expect(second.tokens(of: "SPORT").permits.count == 1)
      #expect(second.tokens(of: "NEWS").selected?.displayName == "Câble")
      #expect(second.tokens(of: "NEWS").authentication == nil)
      #expect(second.client("k") == RegisteredClient(id: "i", secret: "s"))
      #expect(second.serverTime == 5)
    }
  }

  @Test func `removing a code does not remove the code of another process`() throws {
    try withTemporaryFolder { folder in
      func code(_ code: String) -> PendingCode {
        PendingCode(
          offer: RegistrationOffer(
            code: code, display: code, url: "https://a", urlComplete: "https://a/D/\(code)",
            expires: Instant(milliseconds: 1), provider: nil, service: "https://a"))
      }
      let (mine, theirs) = (try store(folder), try store(folder))
      try mine.save([.tokens("SPORT", .pending(code("BCDFGHJK")))])
      try theirs.save([.tokens("SPORT", .pending(code("KJHGFDCB")))])
      try mine.save([.tokens("SPORT", .pendingOver("BCDFGHJK"))])
      #expect(try store(folder).tokens(of: "SPORT").pending == code("KJHGFDCB"))
      try mine.save([.tokens("SPORT", .pendingOver("KJHGFDCB"))])
      #expect(try store(folder).tokens(of: "SPORT").pending == nil)
    }
  }

  @Test func `a deleted installation file is written again with the next tokens`() throws {
    try withTemporaryFolder { folder in
      let first = try store(folder)
      removeTree("\(folder)/state/installation")
      try first.save([.serverTime(5)])
      let second = try store(folder)
      #expect(second.installation.deviceID == first.installation.deviceID)
      #expect(second.serverTime == 5)
    }
  }

  @Test func `installAhead writes the whole installation before any tokens, also when its first attempt failed`() throws
  {
    try withTemporaryFolder { folder in
      let first = try store(folder)
      removeTree("\(folder)/state/installation")
      removeTree("\(folder)/state/installation.copy")
      // The file cannot be written. Saving the tokens tries again and writes both files.
      #expect(unsafe mkdir("\(folder)/state/installation", 0o700) == 0)
      first.installAhead()
      removeTree("\(folder)/state/installation")
      try first.save([.serverTime(5)])
      for name in ["installation", "installation.copy"] {
        #expect(try readFile("\(folder)/state/\(name)") == first.installation.bytes)
      }
      let second = try store(folder)
      second.installAhead()
      try second.save([.serverTime(6)])
      #expect(try store(folder).serverTime == 6)
      #expect(try store(folder).installation.deviceID == first.installation.deviceID)
    }
  }

  @Test func `only this user can read the store's files`() throws {
    try withTemporaryFolder { folder in
      let store = try store(folder)
      try store.save([.tokens("SPORT", .selected(nil))])
      for name in ["installation", "installation.copy", "tokens", "lock"] {
        var status = stat()
        #expect(unsafe stat("\(folder)/state/\(name)", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600, "\(name)")
      }
      var status = stat()
      #expect(unsafe stat("\(folder)/state", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o700)
    }
  }

  @Test func `every device id is 256 random bits`() throws {
    var ids: Set<String> = []
    for _ in 0..<20 {
      ids.insert(try TokenStore(.memory, machineIDFile: "/etc/machine-id").installation.deviceID)
    }
    #expect(ids.count == 20)
    #expect(ids.allSatisfy { $0.count == 64 })
    let machine = (try? readFile("/etc/machine-id")).map {
      String(decoding: $0.prefix(32), as: UTF8.self)
    }
    if let machine, !machine.isEmpty { #expect(!ids.contains { $0.contains(machine) }) }
  }

  @Test func `a token file with any byte changed is reported, and none of its content is used`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/state/tokens"
      try store(folder).save(Self.changes.map { .tokens("SPORT", $0) })
      let bytes = try readFile(path)
      for place in stride(from: 0, to: bytes.count, by: 3) {
        var torn = bytes
        torn[place] ^= 0x01
        try writeFile(path, torn)
        let opened = try store(folder)
        #expect(opened.openingNews?.id == .deviceChanged, "byte \(place)")
        #expect(opened.tokens(of: "SPORT") == RequestorTokens())
      }
      for count in [0, 1, 16, bytes.count / 2, bytes.count - 1] {
        try writeFile(path, bytes.prefix(count))
        let opened = try store(folder)
        #expect((opened.openingNews == nil) == (count == 0))
        #expect(opened.tokens(of: "SPORT").authentication == nil)
      }
      try writeFile(path, bytes)
      #expect(try store(folder).tokens(of: "SPORT").authentication == Self.signIn)
    }
  }

  @Test func `a token file of another installation is not used`() throws {
    try withTemporaryFolder { one in
      try withTemporaryFolder { other in
        try store(one).save(Self.changes.map { .tokens("SPORT", $0) })
        _ = try store(other)
        try writeFile("\(other)/state/tokens", try readFile("\(one)/state/tokens"))
        let opened = try store(other)
        #expect(opened.openingNews?.extras["details"] == "other device id")
        #expect(opened.tokens(of: "SPORT").authentication == nil)
        // The next write makes the file this installation's own.
        try opened.save([.tokens("SPORT", .selected(Self.signIn.signIn.provider))])
        #expect(try store(other).openingNews == nil)
      }
    }
  }

  @Test func `a store copied to another machine is reported, and its tokens are not used`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/here", Array("aaaa\n".utf8))
      try writeFile("\(folder)/there", Array("bbbb\n".utf8))
      let first = try store(folder, machine: "\(folder)/here")
      try first.save(Self.changes.map { .tokens("SPORT", $0) })
      #expect(try store(folder, machine: "\(folder)/here").openingNews == nil)
      // Without a machine id the copy cannot be detected.
      #expect(try store(folder, machine: "/nowhere").openingNews == nil)
      let second = try store(folder, machine: "\(folder)/there")
      #expect(second.openingNews?.id == .deviceChanged)
      #expect(second.openingNews?.extras["details"] == "other machine")
      #expect(second.installation.deviceID != first.installation.deviceID)
      #expect(second.tokens(of: "SPORT") == RequestorTokens())
      #expect(try store(folder, machine: "\(folder)/there").openingNews == nil)
    }
  }

  @Test(arguments: ["{", "", nil])
  func `a damaged installation file is restored from its copy, with its tokens`(content: String?) throws {
    try withTemporaryFolder { folder in
      let first = try store(folder)
      try first.save(Self.changes.map { .tokens("SPORT", $0) })
      let path = "\(folder)/state/installation"
      if let content { try writeFile(path, Array(content.utf8)) } else { removeTree(path) }
      let second = try store(folder)
      #expect(second.openingNews == nil)
      #expect(second.installation.deviceID == first.installation.deviceID)
      #expect(second.tokens(of: "SPORT") == first.tokens(of: "SPORT"))
      // A missing `installation.copy` is written again with the next tokens.
      removeTree("\(path).copy")
      try store(folder).save([.serverTime(5)])
      try writeFile(path, Array("{".utf8))
      #expect(try store(folder).installation.deviceID == first.installation.deviceID)
    }
  }

  @Test func `a damaged installation without a copy is replaced, and its tokens are dropped`() throws {
    try withTemporaryFolder { folder in
      let first = try store(folder)
      try first.save(Self.changes.map { .tokens("SPORT", $0) })
      try writeFile("\(folder)/state/installation", Array("{".utf8))
      try writeFile("\(folder)/state/installation.copy", Array("{".utf8))
      let second = try store(folder)
      #expect(second.openingNews?.id == .deviceChanged)
      #expect(second.tokens(of: "SPORT") == RequestorTokens())
      #expect(try store(folder).openingNews == nil)
    }
  }

  @Test func `a store with file modes that are too wide is refused`() throws {
    try withTemporaryFolder { folder in
      _ = try store(folder)
      #expect(unsafe chmod("\(folder)/state", 0o755) == 0)
      #expect(throws: FileError.self) { _ = try store(folder) }
      #expect(unsafe chmod("\(folder)/state", 0o700) == 0)
      #expect(unsafe chmod("\(folder)/state/installation", 0o644) == 0)
      #expect(throws: FileError.self) { _ = try store(folder) }
    }
  }

  @Test func `a store folder that cannot be created is refused with a hint`() {
    // The kernel's sysfs: not even root can create a folder there.
    #expect {
      _ = try AccessEnabler(EnablerConfiguration(storage: .folder("/sys/player")))
    } throws: { error in
      let error = error as? FileError
      return error?.description.contains("/sys/player") == true && error?.hint != nil
    }
  }

  @Test func `two token stores on one folder that write at the same time lose no permit`() async throws {
    try await withTemporaryFolder { folder in
      let stores = [try store(folder), try store(folder)]
      await withTaskGroup(of: Void.self) { group in
        for (number, store) in stores.enumerated() {
          group.addTask {
            for round in 0..<20 {
              let permit = StoredPermit(
                expires: Instant(milliseconds: 1_900_000_000_000), source: .mvpd)
              await store.saveOffPool([.tokens("SPORT", .permit("\(number)-\(round)", permit))])
            }
          }
        }
      }
      #expect(try store(folder).tokens(of: "SPORT").permits.count == 40)
      for store in stores {
        #expect(store.refresh() == nil)
        #expect(store.tokens(of: "SPORT").permits.count == 40)
      }
    }
  }

  @Test func `changes that could not be written are written with the next change`() throws {
    try withTemporaryFolder { folder in
      let one = try store(folder)
      try one.save([.serverTime(1)])
      removeTree("\(folder)/state/lock")
      #expect(unsafe mkdir("\(folder)/state/lock", 0o700) == 0)
      #expect(throws: FileError.self) {
        try one.save([.tokens("SPORT", .authentication(Self.signIn))])
      }
      #expect(one.tokens(of: "SPORT").authentication == Self.signIn)
      #expect(one.refresh() == nil)
      #expect(one.tokens(of: "SPORT").authentication == Self.signIn)
      #expect(unsafe rmdir("\(folder)/state/lock") == 0)
      try one.save([.serverTime(2)])
      #expect(try store(folder).tokens(of: "SPORT").authentication == Self.signIn)
    }
  }

  @Test func `a full disk keeps the old tokens, and the new ones are written when there is room`()
    async throws
  {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    // A limit on the file size acts like a full disk: writes fail halfway.
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      signal(SIGXFSZ, SIG_IGN)
      guard let store = try? TokenStore(.folder("\(folder)/state"), machineIDFile: "/nowhere"),
        (try? store.save([.tokens("SPORT", .selected(TokenStoreTests.signIn.signIn.provider))]))
          != nil
      else { exit(3) }
      let resource = __rlimit_resource_t(1)
      var limit = rlimit()
      guard unsafe getrlimit(resource, &limit) == 0 else { exit(4) }
      limit.rlim_cur = 200
      guard unsafe setrlimit(resource, &limit) == 0 else { exit(5) }
      if (try? store.save([.tokens("SPORT", .authentication(TokenStoreTests.signIn))])) != nil {
        exit(6)
      }
      guard store.tokens(of: "SPORT").authentication == TokenStoreTests.signIn else { exit(7) }
      limit.rlim_cur = limit.rlim_max
      guard unsafe setrlimit(resource, &limit) == 0 else { exit(8) }
      guard let other = try? TokenStore(.folder("\(folder)/state"), machineIDFile: "/nowhere"),
        other.openingNews == nil, other.tokens(of: "SPORT").selected != nil,
        other.tokens(of: "SPORT").authentication == nil
      else { exit(9) }
      guard (try? store.save([.serverTime(1)])) != nil, other.refresh() == nil,
        other.tokens(of: "SPORT").authentication == TokenStoreTests.signIn
      else { exit(10) }
    }
  }

  @Test func `signing out forgets everything except pending logouts`() {
    var tokens = RequestorTokens()
    for change in Self.changes { tokens.apply(change) }
    tokens.apply(.signedOut)
    var expected = RequestorTokens()
    expected.unfinishedLogouts = ["https://two.example"]
    #expect(tokens == expected)
  }

  @Test func `permits of another viewer do not outlive the sign-in`() {
    var tokens = RequestorTokens()
    for change in Self.changes { tokens.apply(change) }
    tokens.apply(.authentication(Self.signIn))
    #expect(tokens.permits.count == 1)
    var other = Self.signIn
    other.signIn.userID = "somebody else"
    tokens.apply(.authentication(other))
    #expect(tokens.permits.isEmpty)
  }

  @Test func `the number of stored permits is bounded`() {
    var tokens = RequestorTokens()
    for number in 0..<1_000 {
      tokens.apply(
        .permit(
          "r\(number)",
          StoredPermit(expires: Instant(milliseconds: Int64(number)), source: .mvpd)))
    }
    #expect(tokens.permits.count == RequestorTokens.mostPermits)
    #expect(tokens.permits["r999"] != nil)
  }
}
