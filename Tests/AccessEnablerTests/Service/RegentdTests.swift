import RegentCryptography
import HTTPTestSupport
import RegentJSON
import MediaTokenVerifier
import RegentPlatform
import RegentdTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Tests the SDK with the real programs: `regentd` serves, `regentctl` provisions and approves in place of the phone.
@Suite("The SDK with the real regentd")
struct RegentdTests {
  @Test func `a key pair signs in, plays, survives a kill of the service, and signs out`()
    async throws
  {
    try await withTemporaryFolder { folder in
      let house = try await RealService(folder)
      let key = try await house.control(["key", "issue", "acme", "--json"])
      let keys = try #require(
        JSONValue(reading: key.output, limits: JSONLimits(depth: 4, bytes: 4096)).object)
      var configuration = EnablerConfiguration(
        credentials: .keyPair(
          publicKey: try keys.string("publicKey"), secret: Secret(try keys.string("secret"))),
        services: [house.url], storage: .folder("\(folder)/box"))
      configuration.timing.longestPause = .milliseconds(500)
      let enabler = try AccessEnabler(configuration)
      let providers = try await enabler.configure(requestor: "acme")
      #expect(providers.map(\.id) == ["cable"])
      let signIn = try await house.signIn(enabler)
      #expect(signIn.provider.id == "cable")
      let access = try await enabler.authorize("news-1")
      let verifier = MediaTokenVerifier(keys: .url("\(house.url)/oauth/jwks.json"))
      #expect(await verifier.verify(access.serialized, requestor: "acme", resource: "news-1").verdict == .valid)
      await #expect {
        _ = try await enabler.authorize("sport-1")
      } throws: { error in
        (error as? EntitlementError)?.kind == .notAuthorized
      }
      #expect(try await enabler.preauthorize(["news-1", "sport-1"]) == ["news-1"])
      // The viewer types the code while the service is killed and restarted on the same port.
      try await enabler.signOut()
      let (codes, seen) = AsyncStream<String>.makeStream()
      let again = Task {
        try await enabler.authenticate(.provider("cable")) { event in
          if case .registrationCode(let offer) = event { seen.yield(offer.code) }
        }
      }
      let code = try await codes.next("a code")
      try await house.killAndRestart()
      #expect(try await house.approve(code) == 0)
      #expect(try await again.value("the sign-in").provider.id == "cable")
      try await enabler.signOut()
      try await enabler.configure(requestor: "acme")
      #expect(await enabler.currentSignIn() == nil)
    }
  }

  @Test func `the commands of the tutorial make a service that signs a box in`() async throws {
    let tutorial = "Sources/AccessEnabler/AccessEnabler.docc/SignedInInTenMinutes.md"
    let page = String(decoding: try readFile("\(packageFolder())/\(tutorial)"), as: UTF8.self)
    let commands = page.split(separator: "\n").filter { $0.hasPrefix("regentctl ") }
    #expect(commands.count == 6)
    try await withTemporaryFolder { folder in
      let regentd = try await Regentd(try builtProgram("regentd"), in: folder)
      var output = ""
      for command in commands {
        let line =
          "\(try builtProgram("regentctl")) --socket \(regentd.adminSocket) --json "
          + command.dropFirst("regentctl ".count)
        let ended = await offPool {
          Result { try run("/bin/sh", ["-c", line], input: Array("correct-horse\n".utf8)) }
        }
        let result = try ended.get()
        #expect(result.status == 0, "\(command): \(result.errorText)")
        output = result.outputText
      }
      let keys = try #require(JSONValue(reading: Array(output.utf8)).object)
      let enabler = try AccessEnabler(
        EnablerConfiguration(
          credentials: .keyPair(
            publicKey: try keys.string("publicKey"), secret: Secret(try keys.string("secret"))),
          services: [regentd.url], storage: .memory))
      let providers = try await enabler.configure(requestor: "SPORT")
      #expect(providers.map(\.displayName) == ["Cable TV"])
      let phone = Locked<Task<Void, any Error>?>(nil)
      try await enabler.authenticate(.onSecondScreen) { event in
        guard case .registrationCode(let offer) = event else { return }
        phone.withLock { $0 = Task { try await regentd.approve(offer.code, at: "cable") } }
      }
      try await phone.withLock { $0 }?.value
      #expect(try await enabler.authorize("channel-1").resource == "channel-1")
    }
  }

  @Test func `a software statement registers and signs in`() async throws {
    try await withTemporaryFolder { folder in
      let house = try await RealService(folder)
      let issued = try await house.control(
        ["statement", "issue", "acme", "--application", "player", "--json"])
      let object = try #require(
        JSONValue(reading: issued.output, limits: JSONLimits(depth: 4, bytes: 65_536)).object)
      let enabler = try AccessEnabler(
        EnablerConfiguration(
          credentials: .softwareStatement(Secret(try object.string("softwareStatement"))),
          services: [house.url], storage: .memory))
      try await enabler.configure(requestor: "acme")
      #expect(try await house.signIn(enabler).provider.id == "cable")
      #expect(try await enabler.authorize("news-1").resource == "news-1")
      // Revoking a statement ends every client that registered with it.
      _ = try await house.control(["statement", "revoke", try object.string("id"), "--yes"])
      await #expect(throws: EntitlementError.self) { _ = try await enabler.authorize("news-2") }
    }
  }
}

/// `regentd` in a folder of its own, with one requestor, one provider and one viewer that `regentctl` added.
private struct RealService {
  let regentd: Regentd

  var url: String { regentd.url }

  init(_ folder: String) async throws {
    regentd = try await Regentd(try builtProgram("regentd"), in: folder)
    for words in [
      ["requestor", "add", "acme", "--name", "Acme TV"],
      ["provider", "add", "cable", "--name", "Cable TV", "--kind", "local"],
      ["account", "add", "cable", "grandma"], ["integrate", "acme", "cable"],
      ["entitle", "add", "cable", "--allow", "news-*", "--account", "grandma"],
    ] {
      let done = try await control(words, input: "correct-horse\n")
      guard done.status == 0 else { throw TestSupportError("\(words): \(done.errorText)") }
    }
  }

  func control(_ words: [String], input: String = "") async throws -> FinishedProgram {
    let program = try builtProgram("regentctl")
    let socket = regentd.adminSocket
    let result = await offPool {
      Result {
        try run(
          program, ["--socket", socket] + words, environment: ["PATH": "/usr/bin:/bin"],
          input: Array(input.utf8))
      }
    }
    return try result.get()
  }

  func approve(_ code: String) async throws -> Int32 {
    try await control(
      ["code", "approve", code, "--provider", "cable", "--account", "grandma"]
    ).status
  }

  func signIn(_ enabler: AccessEnabler) async throws -> SignIn {
    let (codes, seen) = AsyncStream<String>.makeStream()
    let phone = Task { try await approve(try await codes.next("a code")) }
    // Ends the stream, so that the phone does not wait when the sign-in fails without a code.
    defer { seen.finish() }
    let signIn = try await awaiting("the sign-in") {
      try await enabler.authenticate(.provider("cable")) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    #expect(try await phone.value("the approval") == 0)
    return signIn
  }

  func killAndRestart() async throws {
    try await regentd.kill()
    try await regentd.startAgain()
  }
}
