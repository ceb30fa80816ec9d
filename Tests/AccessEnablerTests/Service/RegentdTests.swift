import Cryptography
import Glibc
import HTTPTestSupport
import JSON
import MediaTokenVerifier
import TestSupport
import Testing

@testable import AccessEnabler

/// The SDK against the real programs: `regentd` serves, `regentctl` provisions and plays the phone.
@Suite("With the real regentd")
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
      #expect(await verifier.verify(access.serialized, resource: "news-1").verdict == .valid)
      await #expect {
        _ = try await enabler.authorize("sport-1")
      } throws: { error in
        (error as? EntitlementError)?.kind == .notAuthorized
      }
      #expect(try await enabler.preauthorize(["news-1", "sport-1"]) == ["news-1"])
      // Somebody types while the service dies by kill -9 and comes back on the same port.
      try await enabler.signOut()
      let (codes, seen) = AsyncStream<String>.makeStream()
      let again = Task {
        try await enabler.authenticate(.provider("cable")) { event in
          if case .registrationCode(let offer) = event { seen.yield(offer.code) }
        }
      }
      for await code in codes {
        try await house.killAndRestart()
        #expect(try await house.approve(code) == 0)
        break
      }
      #expect(try await again.value.provider.id == "cable")
      try await enabler.signOut()
      try await enabler.configure(requestor: "acme")
      #expect(await enabler.currentSignIn() == nil)
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
      // A revoked statement ends every client of it.
      _ = try await house.control(["statement", "revoke", try object.string("id"), "--yes"])
      await #expect(throws: EntitlementError.self) { _ = try await enabler.authorize("news-2") }
    }
  }
}

/// `regentd` in a folder of its own, with one requestor, one provider and one viewer.
private final class RealService {
  let folder: String
  let url: String
  private var program: RunningProgram

  init(_ folder: String) async throws {
    self.folder = folder
    let (program, port) = try await Self.start(folder, port: 0)
    self.program = program
    url = "http://127.0.0.1:\(port)"
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

  private static func environment(_ folder: String) -> [String: String] {
    [
      "HOME": folder, "XDG_STATE_HOME": folder, "PATH": "/usr/bin:/bin",
      "REGENT_WEB": package + "/web",
    ]
  }

  private static func start(_ folder: String, port: Int) async throws -> (RunningProgram, Int) {
    let output = "\(folder)/out-\(port)"
    let errors = "\(folder)/errors"
    let program = try RunningProgram(
      try builtProgram("regentd"),
      [
        "serve", "--listen", "127.0.0.1:\(port)", "--public-url", "http://localhost",
        "--database", "\(folder)/regent.db", "--admin-socket", "\(folder)/admin.sock",
      ], environment: environment(folder), standardOutput: output, standardError: errors)
    let found = await offPool { () -> Int? in
      try? eventually("regentd listens") {
        for path in [output, errors] {
          let text = (try? readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
          if let line = text.split(separator: "\n").last(where: { $0.contains("listening on http") }
          ),
            let port = line.split(separator: ":").last.flatMap({ Int($0) })
          {
            return port
          }
        }
        return nil
      }
    }
    guard let found else {
      let why = (try? readFile(errors)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      throw TestSupportError("regentd does not listen: \(why)")
    }
    return (program, found)
  }

  func control(_ words: [String], input: String = "") async throws -> FinishedProgram {
    let (folder, program) = (folder, try builtProgram("regentctl"))
    let result = await offPool {
      Result {
        try run(
          program, ["--socket", "\(folder)/admin.sock"] + words,
          environment: Self.environment(folder), input: Array(input.utf8))
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
    async let signIn = enabler.authenticate(.provider("cable")) { event in
      if case .registrationCode(let offer) = event { seen.yield(offer.code) }
    }
    for await code in codes {
      #expect(try await approve(code) == 0)
      break
    }
    return try await signIn
  }

  func killAndRestart() async throws {
    let port = url.split(separator: ":").last.flatMap { Int($0) } ?? 0
    program.signal(SIGKILL)
    while program.poll() == nil { try await Task.sleep(for: .milliseconds(5)) }
    program = try await Self.start(folder, port: port).0
  }
}
