import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentJSON
import RegentPairing
import ServiceTestSupport
import StorageFaults
import TestSupport
import Testing

@testable import PairingService

@Suite struct `OAuth clients of a failing service` {
  /// How the machine fails.
  enum Cut: CaseIterable { case kill, power }

  /// The request during which it fails.
  enum Step: CaseIterable { case redeem, refresh }

  private struct Asking: Sendable {
    let code: String
    var refresh: String?

    func ask(_ box: OAuthBox) async throws -> TestResponse {
      if let refresh { return try await box.refresh(refresh) }
      return try await box.ask(code)
    }
  }

  /// The disk fails at the first write or sync of the request, then at the second, and so on until the request
  /// succeeds.
  ///
  /// That last response is lost too, as when the service dies between commit and response.
  @Test(arguments: Cut.allCases, Step.allCases)
  func `a client repeats its request after the service died at any point, and loses no token`(cut: Cut, step: Step)
    async throws
  {
    var rounds = 0
    var lost: Tokens?
    while lost == nil {
      rounds += 1
      try #require(rounds < 60, "the request never succeeded")
      lost = try await dies(at: rounds, cut, step)
    }
    #expect(rounds > 2, "nothing was written")
  }

  /// Returns the tokens of the lost response, if there was one.
  private func dies(at round: Int, _ cut: Cut, _ step: Step) async throws -> Tokens? {
    try await withTemporaryFolder { folder in
      let (disk, master) = (FaultyDisk(), Random.secret())
      defer { disk.forget() }
      func open(_ folder: String, _ layer: String) throws -> SQLiteStore {
        var options = SQLiteStoreOptions(
          path: "\(folder)/regent.db", masterKey: master, wallClock: { Instant(milliseconds: 0) })
        options.fileLayer = layer
        return try SQLiteStore(options)
      }
      let store = try open(folder, disk.name)
      let service = try await TestService(on: store)
      let client = InProcessClient(try service.router())
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      var asking = Asking(code: code.device)
      if step == .refresh { asking.refresh = try Tokens(try await box.ask(code.device)).refresh }
      service.clock.pass(.seconds(5))

      disk.fail([.write, .synchronise], at: round, forEver: true)
      let answer = try await asking.ask(box)
      if answer.status != 200 {
        #expect(answer.status == 503, "\(answer.text)")
        #expect(answer.error == "temporarily_unavailable")
      }
      let files = cut == .kill ? disk.contents() : disk.survivors()
      disk.heal()
      store.close()
      try makeDisk("\(folder)/after", from: files)

      let left = try open("\(folder)/after", FaultyDisk().name)
      defer { left.close() }
      let next = try await TestService(restarting: service, on: left)
      let again = OAuthBox(box, at: next, InProcessClient(try next.router()))
      let tokens = try Tokens(try await asking.ask(again))
      let lost = answer.status == 200 ? try Tokens(answer) : nil
      // The repeated request gets the same tokens as the lost response.
      if let lost { #expect(tokens == lost) }
      let grants = try await left.grants(GrantFilter(), after: nil, limit: 9, at: next.clock.now)
      #expect(grants.count == 1)
      let refresh = try #require(tokens.refresh)
      #expect(try await again.refresh(refresh).status == 200)
      return lost
    }
  }

  @Test func `with a full disk a client gets 503, and its refresh token stays valid`() async throws {
    let disk = FaultyDisk()
    try await withFileStore(on: disk) { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        let tokens = try await box.pair()
        let refresh = try #require(tokens.refresh)
        let approved = try await box.begin()
        try await service.approve(approved.user)
        disk.fail([.write], at: 1, forEver: true, with: .full)
        for answer in [try await box.refresh(refresh), try await box.ask(approved.device)] {
          #expect(answer.status == 503)
          #expect(answer.error == "temporarily_unavailable")
          #expect(answer.header("retry-after") != nil)
        }
        // Requests that only read still work.
        #expect(try await api.introspect(tokens.access)["active"] == true)
        disk.heal()
        let next = try Tokens(try await box.refresh(refresh))
        #expect(try Tokens(try await box.refresh(refresh)) == next)
        #expect(try await box.ask(approved.device).status == 200)
      }
    }
  }

  @Test func `in an outage every protocol sends the same Retry-After, one second at first and then five`() async throws
  {
    let disk = FaultyDisk()
    try await withFileStore(on: disk) { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let refresh = try #require(try await box.pair().refresh)
        let invitation = try EnrolmentStage()
        try await invitation.invite(service)
        /// What V1, the registration of clients, OAuth and the enrolment of boxes answer.
        func pauses() async throws -> [String?] {
          let path = "/reggie/v1/REF30/regcode"
          let answers = [
            try await client.post(
              path, form: [("deviceId", "box-1")], headers: [try service.signature("POST", path)]),
            try await client.token("client-of-an-earlier-release", "secret"),
            try await box.refresh(refresh),
            try await client.send(invitation.request(1)),
          ]
          for answer in answers { #expect(answer.status == 503, "\(answer.text)") }
          return answers.map { $0.header("retry-after") }
        }
        store.close()
        #expect(try await pauses() == ["1", "1", "1", "1"])
        service.clock.pass(.seconds(6))
        _ = try await pauses()
        service.clock.pass(.seconds(6))
        #expect(try await pauses() == ["5", "5", "5", "5"])
      }
    }
  }

  /// An hour either way, or 1970, as on a machine without a battery for its clock.
  @Test(arguments: [3600, -3600, -1_700_000_000])
  func `a grant survives a clock that is set wrong and right again`(seconds: Int) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .basic)
      var bound = try await OAuthBox(service, client)
      bound.proofKey = try SigningKey.generate(.es256)
      let waiting = try await box.begin()
      var refresh = try #require(try await box.pair().refresh)
      var boundRefresh = try #require(try await bound.pair().refresh)
      for ahead in [seconds, 0] {
        service.clock.setAhead(.seconds(ahead))
        await Upkeep(service.core).once()
        let tokens = try Tokens(try await box.refresh(refresh))
        #expect(try await api.introspect(tokens.access)["active"] == true)
        refresh = try #require(tokens.refresh)
        boundRefresh = try #require(try Tokens(try await bound.refresh(boundRefresh)).refresh)
        // A new pairing works from start to end.
        _ = try await box.pair()
        service.clock.pass(.seconds(61))
      }
      // By a clock ahead the waiting code has expired and is forgotten for good. Otherwise it is still pending.
      let end = try await box.ask(waiting.device).error
      #expect(end == (seconds > 0 ? "invalid_grant" : "authorization_pending"))
    }
  }

  /// A token that has expired only by a clock ahead must not be reported as expired: the client would discard it.
  @Test func `a clock that jumps a month ahead for some seconds ends no grant`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let first = try #require(try await box.pair().refresh)
      let second = try #require(try Tokens(try await box.refresh(first)).refresh)
      service.clock.setAhead(.seconds(31 * 86_400))
      for refresh in [second, first] {
        let answer = try await box.refresh(refresh)
        #expect(answer.status == 503 && answer.error == "temporarily_unavailable", "\(answer.text)")
      }
      service.clock.setAhead(.zero)
      #expect(try Tokens(try await box.refresh(second)).refresh != nil)
    }
  }
}
