import RegentCryptography
import RegentJSON
import HTTPServer
import PairingStore
import RegentHTTPCodec
import RegentOAuth
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent
@testable import PairingService

@Suite struct `A box with an OAuth server` {
  @Test func `a box pairs, gets a DPoP-bound token, renews it and revokes it`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      let before = try await box.run(["oauth", "token", "tv"])
      #expect(before.status == 3)
      #expect(before.errorText.contains("regent oauth pair tv"))
      try await box.pairOAuth(service)
      #expect(try box.events().last?["provider"]?.string == "127.0.0.1")

      let token = try await box.run(["oauth", "token", "tv"])
      let first = try box.kept()
      #expect(token.outputText == first.answer.accessToken + "\n")
      #expect(first.answer.kind == "DPoP")
      // A DPoP-bound token is useless as a header without a proof for its URL.
      #expect(try await box.run(["oauth", "token", "tv", "--format", "header"]).status == 2)
      let header = try await box.run(["oauth", "token", "tv", "--format", "header", "--url", service.url + "/x?y=1"])
      let lines = header.outputText.split(separator: "\n")
      #expect(lines.first == "Authorization: DPoP \(first.answer.accessToken)")
      let proof = try DPoPProof(
        String(try #require(lines.last).dropFirst(6)),
        for: .init(
          method: "GET", target: try #require(ProofTarget(service.url + "/x")), accessToken: first.answer.accessToken))
      let key = try SigningKey(pem: Secret(copying: readFile("\(folder)/state/oauth/tv/key")))
      #expect(proof.thumbprint == key.publicKey.thumbprint)

      // Shortly before its expiry the token is renewed. The printed token is the stored one.
      try box.age(by: 3_560)
      let renewed = try await box.run(["oauth", "token", "tv", "--json"])
      #expect(renewed.status == 0, "\(renewed.errorText)")
      let second = try box.kept()
      #expect(second.answer.accessToken != first.answer.accessToken)
      #expect(second.answer.refreshToken != first.answer.refreshToken)
      #expect(try JSONValue(reading: renewed.output)["token"]?.string == second.answer.accessToken)

      let list = try await box.run(["oauth", "list", "--json"])
      #expect(try JSONValue(reading: list.output).array?.first?["signedIn"]?.bool == true)
      let modes = try await box.shell("stat -c '%a %n' state/oauth/tv state/oauth/tv/*")
      #expect(modes.outputText.split(separator: "\n").allSatisfy { $0.hasPrefix("600 ") || $0.hasPrefix("700 ") })

      let removed = try await box.run(["oauth", "remove", "tv", "--json"])
      #expect(try JSONValue(reading: removed.output)["revoked"]?.bool == true, "\(removed.errorText)")
      #expect(try await box.run(["oauth", "token", "tv"]).errorText.contains("regent oauth list"))
      #expect(
        try await service.service.core.store.authentications(
          AuthenticationFilter(), after: nil, limit: 10, at: service.service.core.clock.now
        ).isEmpty)
    }
  }

  @Test func `a denial ends pairing with exit code 4`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service, more: ["--no-dpop", "--scope", "openid"])
      let pairing = try box.start(["oauth", "pair", "tv", "--json"])
      try await service.service.deny(try await box.code(in: "out"))
      #expect(try await eventually("the end") { pairing.poll() } == 4)
      #expect(try box.events().last?["event"]?.string == "denied")
      #expect(try await box.run(["oauth", "token", "tv"]).status == 3)
    }
  }

  @Test func `after a kill the same code is shown again and can be approved`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      let killed = try box.start(["oauth", "pair", "tv", "--json"])
      let code = try await box.code(in: "out")
      killed.signal(9)
      _ = try await eventually("the kill") { killed.poll() }
      let again = try box.start(["oauth", "pair", "tv", "--json"], output: "again")
      #expect(try await box.code(in: "again") == code)
      try await service.service.approve(code)
      #expect(try await eventually("the end") { again.poll() } == 0, "\(box.printed("again"))")
      #expect(try await box.run(["oauth", "token", "tv"]).status == 0)
    }
  }

  @Test func `concurrent requests for an OAuth token cause one refresh, with and without the daemon`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      try await box.pairOAuth(service)
      let first = try box.kept().answer
      try box.age(by: 3_560)
      async let one = box.run(["oauth", "token", "tv"], output: "one")
      async let other = box.run(["oauth", "token", "tv"], output: "other")
      let tokens = try await [one, other].map(\.outputText)
      #expect(Set(tokens).count == 1 && tokens[0] != first.accessToken + "\n")
      #expect(service.refreshes == 1)

      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      try box.age(by: 3_560)
      let asked = try await box.shell(
        """
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \
        curl -sS --unix-socket regent/agent.sock http://localhost/v1/oauth/token -d '{"name":"tv"}' > answer.$i & \
        done; wait; cat answer.* | grep -o '"token":"[^"]*"' | sort | uniq -c | awk '{print $1}'
        """)
      #expect(asked.outputText == "20\n", "\(asked.errorText)")
      #expect(service.refreshes == 2)
      // The command prints the token that the daemon has.
      #expect(try await box.run(["oauth", "token", "tv"]).outputText == (try box.kept().answer.accessToken) + "\n")
      #expect(!box.printed("daemon.err").contains(try box.kept().answer.accessToken))
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }

  @Test func `the daemon works without a TV service`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let without = "env -u REGENT_SERVICE -u REGENT_REQUESTOR -u REGENT_PUBLIC_KEY -u REGENT_SECRET_FILE regent"
      // With neither a TV service nor an OAuth server the daemon says what is missing.
      let idle = try await box.shell("\(without) daemon")
      #expect(idle.status == 2 && idle.errorText.contains("no service is configured"), "\(idle.errorText)")
      try await box.addOAuth(service)
      try await box.pairOAuth(service)
      try box.age(by: 3_560)
      let daemon = try RunningProgram(
        try builtProgram("regent"), ["daemon"],
        environment: box.environment.filter {
          !["REGENT_SERVICE", "REGENT_REQUESTOR", "REGENT_PUBLIC_KEY", "REGENT_SECRET_FILE"].contains($0.key)
        }, standardError: "\(folder)/daemon.err")
      try await box.daemonListens()
      let token = try await box.shell("\(without) oauth token tv")
      #expect(token.status == 0, "\(token.errorText)")
      #expect(token.outputText == (try box.kept().answer.accessToken) + "\n")
      #expect(service.refreshes == 1)
      let status = try await box.shell("\(without) status")
      #expect(status.errorText.contains("this box has no TV service"), "\(status.errorText)")
      let paired = try box.start(["oauth", "pair", "tv", "--json", "--force"], output: "again")
      try await service.service.approve(try await box.code(in: "again"))
      #expect(try await eventually("the end") { paired.poll() } == 0, "\(box.printed("again.err"))")
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
      // Incomplete settings of a TV service are an error.
      let half = try await box.shell("\(without) daemon --service \(service.url)")
      #expect(half.status == 2, "\(half.errorText)")
    }
  }

  @Test func `an OAuth sign-in that was ended is reported and its tokens are deleted`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      try await box.pairOAuth(service)
      _ = try await service.service.core.store.revoke(
        AuthenticationFilter(), audit: nil, at: service.service.core.clock.now)
      try box.age(by: 3_560)
      let ended = try await box.run(["oauth", "token", "tv"])
      #expect(ended.status == 3, "\(ended.errorText)")
      #expect(ended.errorText.contains("regent oauth pair tv"))
      #expect(!isFile("\(folder)/state/oauth/tv/tokens"))
    }
  }

  @Test func `an unreachable OAuth server matters only after the token's expiry, with exit code 6`() async throws {
    let service = try await BoxService()
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      try await box.pairOAuth(service)
      service.stop()
      let token = try box.kept().answer.accessToken + "\n"
      try box.age(by: 3_560)
      #expect(try await box.run(["oauth", "token", "tv"]).outputText == token)
      try box.age(by: 3_600)
      let away = try await box.run(["oauth", "token", "tv"])
      #expect(away.status == 6, "\(away.errorText)")
      #expect(isFile("\(folder)/state/oauth/tv/tokens"))
      let unknown = try await box.run(["oauth", "add", "more", "--issuer", service.issuer, "--client-id", "x"])
      #expect(unknown.status == 6)
    }
  }

  @Test func `an OAuth sign-in is kept while the account is switched off, and the error says so`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      try await box.pairOAuth(service)
      try box.age(by: 3_600)
      try await service.service.disable(Sample.account)
      for _ in 0..<2 {
        let paused = try await box.run(["oauth", "token", "tv"])
        #expect(paused.status == 6, "\(paused.errorText)")
        #expect(paused.errorText.contains("the sign-in is kept"), "\(paused.errorText)")
        #expect(paused.errorText.contains("has switched the account or provider off for now"), "\(paused.errorText)")
        #expect(isFile("\(folder)/state/oauth/tv/tokens"))
      }
      try await service.service.disable(Sample.account, false)
      let token = try await box.run(["oauth", "token", "tv"])
      #expect(token.outputText == (try box.kept().answer.accessToken) + "\n", "\(token.errorText)")
      #expect(service.refreshes == 1)
    }
  }

  @Test func `the git helper gives the token to one URL only`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service, more: ["--no-dpop"])
      try await box.pairOAuth(service)
      let token = try box.kept().answer.accessToken
      let helper = "regent oauth token tv --format git --url https://git.example.org"
      let given = try await box.shell(
        """
        git -c credential.helper= -c credential.helper='!\(helper)' credential fill <<END
        protocol=https
        host=git.example.org

        END
        """)
      #expect(given.outputText.contains("password=\(token)\n"), "\(given.errorText)")
      for asked in ["protocol=https\nhost=other.example.org\n", "protocol=http\nhost=git.example.org\n", "\n=\n"] {
        let refused = try await box.shell("printf '\(asked.replacing("\n", with: "\\n"))' | \(helper) get")
        #expect(refused.status == 0 && refused.output.isEmpty)
      }
      // git reports that the token was refused, so that the next one is new.
      try box.age(by: 60)
      _ = try await box.shell(
        "printf 'protocol=https\\nhost=git.example.org\\npassword=\(token)\\n' | \(helper) erase")
      #expect(try box.kept().answer.accessToken != token)
      #expect(service.refreshes == 1)
    }
  }

  @Test(.enabled(if: installedProgram("python3") != nil && installedProgram("jq") != nil))
  func `the OAuth examples sign in and call with the token`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      try await box.addOAuth(service, name: "kodi", more: ["--no-dpop"])
      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      let source = packageFolder()
      func start(_ program: String, _ words: [String], _ output: String) throws -> RunningProgram {
        try RunningProgram(
          program, words,
          environment: box.environment.merging([
            "PYTHONPATH": "\(source)/deploy/python:\(source)/Tests/fixtures/kodi"
          ]) { $1 }, standardOutput: "\(folder)/\(output)", standardError: "\(folder)/\(output).err")
      }
      func code(in output: String) async throws -> String {
        try await eventually("a code in \(output)") {
          box.printed(output).split(separator: "\n").first { $0.contains(" enter ") }?.split(separator: " ").last
            .map(String.init)
        }
      }
      let call = ["-B", source + "/docs/examples/oauth/call.py", "tv", service.issuer + "/userinfo"]
      let first = try start("python3", call, "call")
      try await service.service.approve(try await code(in: "call.err"))
      #expect(try await eventually("the end") { first.poll() } == 0, "\(box.printed("call.err"))")
      #expect(box.printed("call").contains("\"sub\""))
      let second = try start("python3", call, "again")
      #expect(try await eventually("the end") { second.poll() } == 0, "\(box.printed("again.err"))")
      #expect(box.printed("again.err").isEmpty && box.printed("again").contains("\"sub\""))

      let kodi = try start(
        "python3", ["-B", source + "/docs/examples/kodi/oauth.py", "kodi", "https://tv.example.org/1.m3u8"], "kodi")
      try await service.service.approve(try await code(in: "kodi"))
      #expect(try await eventually("the end") { kodi.poll() } == 0, "\(box.printed("kodi.err"))")
      #expect(
        box.printed("kodi").contains(
          "play https://tv.example.org/1.m3u8|Authorization=Bearer%20\(try box.kept("kodi").answer.accessToken)"))

      let shell = try start(
        "sh", [source + "/docs/examples/oauth/pair.sh", service.issuer, try await service.addOAuthClient()], "shell")
      try await service.service.approve(try await code(in: "shell.err"))
      #expect(try await eventually("the end") { shell.poll() } == 0, "\(box.printed("shell.err"))")
      #expect(box.printed("shell").split(separator: ".").count == 3, "no JWT: \(box.printed("shell"))")
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }

  @Test(
    arguments: [
      (1_001, "/v1/oauth/token", ["name": "music"], 422), (1_001, "/v1/oauth/token", ["name": "tv-1"], 422),
      (1_001, "/v1/oauth/token", ["name": "work"], 403), (1_002, "/v1/oauth/token", ["name": "music"], 403),
      (1_000, "/v1/oauth/token", ["name": "work"], 422), (1_001, "/v1/oauth/token", ["name": "../x"], 400),
      (1_001, "/v1/pair/begin", ["oauth": "music"], 403), (1_003, "/v1/pair/begin", ["oauth": "music"], 422),
      (1_003, "/v1/pair/begin", ["oauth": "work"], 403),
    ] as [(UInt32, String, JSONObject, UInt16)])
  func `other users get an OAuth token only if the allow list names it`(
    user: UInt32, path: String, body: JSONObject, status: UInt16
  ) async throws {
    let daemon = DaemonServer(
      CountingSource(),
      allowRules: [
        try AllowRule(parsing: "user:1001 oauth=music oauth=tv-*", in: "x"),
        try AllowRule(parsing: "user:1003 oauth=music pair", in: "x"),
      ], owner: 1_000, oauth: OAuthTokenSource(state: "/nonexistent", buildTime: 0)
    ) { _ in }
    let bytes = body.bytes()
    let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(bytes.count)\r\n\r\n"
    let peer = Peer.local(Credentials(process: 1, user: user, group: user, supplementaryGroups: []))
    let request = try Request(head: Array(head.utf8), body: bytes, peer: peer)
    let response = try await answered(try daemon.router().handle(request))
    #expect(response.status.rawValue == status)
    if status == 403, path.hasSuffix("token") {
      #expect(
        String(decoding: response.body, as: UTF8.self).contains("oauth="), "the line to add")
    }
  }

  @Test func `a clock that was wrong does not keep an OAuth token in use after its expiry`() {
    let answer = TokenAnswer(
      accessToken: "a", kind: "Bearer", lifetime: 3_600, refreshToken: "r", scope: nil, idToken: nil)
    let made = KeptMoment(wall: 1_000, boot: 5_000, run: "one")
    let tokens = KeptTokens(answer, at: made)
    // The wall clock jumps by fifty years when the network comes up; by the boot clock no time has passed.
    #expect(tokens.isFresh(at: KeptMoment(wall: 1_800_000_000_000, boot: 6_000, run: "one")))
    #expect(!tokens.isFresh(at: KeptMoment(wall: 2_000, boot: 5_000 + 3_541_000, run: "one")))
    #expect(tokens.isFresh(at: KeptMoment(wall: 2_000, boot: 5_000 + 3_539_000, run: "one")))
    // After a restart the wall clock decides. If it went back, the token's age is unknown and the token counts as
    // old.
    #expect(!tokens.isFresh(at: KeptMoment(wall: 1_800_000_000_000, boot: 10, run: "two")))
    #expect(!tokens.isFresh(at: KeptMoment(wall: 500, boot: 10, run: "two")))
    #expect(tokens.isFresh(at: KeptMoment(wall: 2_000, boot: 10, run: "two")))
    var short = answer
    short.lifetime = 30
    #expect(KeptTokens(short, at: made).isFresh(at: KeptMoment(wall: 0, boot: 31_000, run: "one")))
    #expect(!KeptTokens(short, at: made).isFresh(at: KeptMoment(wall: 0, boot: 32_500, run: "one")))
    // A server may state any lifetime.
    for (lifetime, isFresh) in [(Int64.max, true), (.max / 100, true), (.min, false), (-1, false), (0, false)] {
      var odd = answer
      odd.lifetime = lifetime
      #expect(KeptTokens(odd, at: made).isFresh(at: made) == isFresh, "\(lifetime)")
    }
    var endless = answer
    endless.lifetime = nil
    endless.refreshToken = nil
    #expect(KeptTokens(endless, at: made).isFresh(at: KeptMoment(wall: 0, boot: .max / 2, run: "two")))
    #expect(KeptTokens(KeptTokens(answer, at: made).document) == KeptTokens(answer, at: made))
  }
}
