import PairingStore
import RegentPairing

extension StoreConformance {
  static let grantChecks = [
    ConformanceCheck("an OAuth client is stored, changed only by a caller that has seen its current state, and removed")
    { stage in
      let client = try stage.client(1)
      try await stage.put(client)
      try await stage.put(client)
      try expect(try await stage.store.oauthClient(client.id) == client, "is another")
      var renamed = client
      renamed.name = "Renamed"
      try await expect(.changedMeanwhile(what: "client")) { try await stage.put(renamed) }
      try await stage.put(renamed, replacing: client)
      try expect(try await stage.store.oauthClient(client.id)?.name == "Renamed", "keeps its name")
      _ = try await stage.store.removeOAuthClient(client.id, audit: nil, at: stage.at(2))
      try expect(try await stage.store.oauthClient(client.id) == nil, "is still there")
      try await expect(.notFound(what: "client")) {
        try await stage.store.removeOAuthClient(client.id, audit: nil, at: stage.at(3))
      }
    },
    ConformanceCheck("the limit on clients of one origin holds when many register at once") { stage in
      let three = ClientRoom(most: 3, forgettingBefore: nil)
      let results = try await stage.together(16) { number in try await stage.put(stage.client(number), in: three) }
      try expect(results.successes().count == 3, "there are \(results.successes().count)")
      try await expect(.tooManyClients(limit: 3)) { try await stage.put(stage.client(99), in: three) }
      let list = try await stage.store.oauthClients(of: stage.requestor, after: nil, limit: 100)
      try expect(list.count == 3 && list == list.sorted { $0.id < $1.id }, "lists \(list.map(\.id))")
      let rest = try await stage.store.oauthClients(of: nil, after: list[0].id, limit: 1)
      try expect(rest == [list[1]], "behind the first comes \(rest.map(\.id))")
    },
    ConformanceCheck("one sign-in gives one grant, however many requests come at once") { stage in
      let (client, signIn) = try await stage.readyToGive()
      let results = try await stage.together(32) { number in
        try await stage.store.keep(stage.grant(number, client, signIn), at: stage.at(3))
      }
      let kept = Set(results.successes())
      try expect(results.successes().count == 32 && kept.count == 1, "there are \(kept.count)")
      let all = try await stage.store.grants(GrantFilter(), after: nil, limit: 100, at: stage.at(3))
      try expect(Set(all) == kept, "lists \(all.count)")
      let standing = try await stage.store.grant(found(kept.first, "grant").id, at: stage.at(3))
      var paired = client
      paired.paired = stage.at(3)
      try expect(standing?.client == paired && standing?.signIn.record == signIn, "stands on another")
    },
    ConformanceCheck("each next generation of a grant is made once, however many requests come at once") { stage in
      let (client, signIn) = try await stage.readyToGive()
      let first = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      let results = try await stage.together(32) { number in
        var next = first
        next.generation = 1
        next.rotated = stage.at(4)
        next.answer = StoredSecret([UInt8(truncatingIfNeeded: number)])
        return try await stage.store.rotate(next, at: stage.at(4))
      }
      let kept = Set(results.successes())
      try expect(results.successes().count == 32 && kept.count == 1, "there are \(kept.count)")
      var skipped = first
      skipped.generation = 5
      let unchanged = try await stage.store.rotate(skipped, at: stage.at(5))
      try expect(unchanged == kept.first, "a generation was left out")
    },
    ConformanceCheck("a grant ends with its idle time, its sign-in or its account") { stage in
      let (client, signIn) = try await stage.readyToGive()
      let grant = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      try expect(try await stage.store.grant(grant.id, at: stage.at(3 + 99)) != nil, "ended early")
      try expect(try await stage.store.grant(grant.id, at: stage.at(3 + 100)) == nil, "outlives its idle time")
      try await stage.disable(stage.ann)
      try await expect(.notInForce(.accountDisabled)) { try await stage.store.grant(grant.id, at: stage.at(4)) }
      try await expect(.notInForce(.accountDisabled)) { try await stage.store.rotate(grant, at: stage.at(4)) }
      _ = try await stage.store.signOut(
        requestor: stage.requestor, device: signIn.deviceHash, at: stage.at(5))
      try expect(try await stage.store.grant(grant.id, at: stage.at(5)) == nil, "outlives its sign-in")
      try await expect(.notFound(what: "grant")) { try await stage.store.rotate(grant, at: stage.at(5)) }
      let left = try await stage.store.grants(GrantFilter(), after: nil, limit: 10, at: stage.at(5))
      try expect(left.isEmpty, "is still listed")
    },
    ConformanceCheck("prolonging a grant can only lengthen the idle time of its current generation") { stage in
      let (client, signIn) = try await stage.readyToGive()
      var grant = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      func kept(_ second: Int) async throws -> GrantRecord? { try await stage.kept(of: signIn, second: second) }
      try await stage.disable(stage.ann)
      grant.idle = .seconds(400)
      try await stage.store.prolong(grant, at: stage.at(50))
      try expect(try await kept(300) == grant, "is \(String(describing: try await kept(300)))")
      // A slower request with an older, shorter time must not shorten it.
      var shorter = grant
      shorter.idle = .seconds(200)
      try await stage.store.prolong(shorter, at: stage.at(51))
      try expect(try await kept(300) == grant, "was made shorter")
      try await stage.put(
        .account(try stage.account(stage.ann)), replacing: .account(try stage.account(stage.ann, isDisabled: true)))
      let seen = try await stage.store.grant(grant.id, at: stage.at(300))
      var next = grant
      (next.generation, next.rotated, next.idle) = (1, stage.at(300), .seconds(100))
      let rotated = try await stage.store.rotate(next, seen: seen?.version, at: stage.at(300))
      try expect(rotated == next, "is \(rotated)")
      try expect(try await kept(301) == next, "kept the longer time")
      var late = grant
      late.idle = .seconds(4000)
      try await stage.store.prolong(late, at: stage.at(302))
      try expect(try await kept(303) == next, "an earlier generation's was kept")
      // An expired grant stays expired, and a removed one does not come back.
      late = next
      late.idle = .seconds(4000)
      try await stage.store.prolong(late, at: stage.at(500))
      try expect(try await kept(399) == next, "what was over goes on")
      _ = try await stage.store.endGrants(GrantFilter(id: grant.id), audit: nil, at: stage.at(301))
      try await stage.store.prolong(late, at: stage.at(302))
      try expect(try await kept(303) == nil, "is there again")
    },
    ConformanceCheck("a code cannot be approved after its OAuth client was removed") { stage in
      let client = try stage.client(1)
      try await stage.put(client)
      func code(_ number: Int) async throws -> (RegistrationID, SessionID) {
        let asked = AskedByClient(
          client: client.id, scope: "openid", challenge: nil, thumbprint: nil, secret: nil, keys: nil,
          isSelfNamed: true, isOperators: false)
        let record = RegistrationRecord(
          id: try ConformanceFixture.name("registration-\(number)"), code: try stage.hash(number),
          requestor: stage.requestor, device: try ConformanceFixture.name("device-\(number)"),
          deviceHash: try stage.hash(1000 + number), rowKey: stage.rowKey, about: DeviceDescription(asked: asked),
          flow: PairingFlow(issued: stage.at(0), lifetime: .usual, match: nil))
        try await stage.reserve(record)
        let session = try await stage.session(number, as: stage.ann)
        _ = try await stage.store.claim(record.id, by: session, at: stage.at(1))
        return (record.id, session)
      }
      let (good, late) = (try await code(1), try await code(2))
      _ = try await stage.store.approve(good.0, stage.yes(good.1, as: 1), audit: nil, at: stage.at(2))
      _ = try await stage.store.removeOAuthClient(client.id, audit: nil, at: stage.at(3))
      try await expect(.refused(.withdrawn)) {
        try await stage.store.approve(late.0, stage.yes(late.1, as: 2), audit: nil, at: stage.at(4))
      }
      let left = try await stage.store.standing(ConformanceFixture.name("authentication-2"), at: stage.at(5))
      try expect(left == nil, "is signed in")
    },
    ConformanceCheck("every change that may end a grant moves the standing mark before it is reported") { stage in
      guard stage.store.standingMark != nil else { return }
      let (client, signIn) = try await stage.readyToGive()
      _ = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      let other = try await stage.signedIn(2, device: 2)
      _ = try await stage.store.keep(stage.grant(2, client, other), at: stage.at(3))
      let (store, now) = (stage.store, stage.at(4))
      let paired = try found(await store.oauthClient(client.id), "client")
      var renamed = paired
      renamed.name = "Renamed"
      let ends: [(String, () async throws -> Void)] = [
        ("a client's change", { [renamed] in try await stage.put(renamed, replacing: paired) }),
        ("an account's", { try await stage.disable(stage.ann) }),
        ("a sign-out", { _ = try await store.signOut(requestor: stage.requestor, device: signIn.deviceHash, at: now) }),
        ("a grant's end", { _ = try await store.endGrants(GrantFilter(client: client.id), audit: nil, at: now) }),
        ("a row key's", { try await store.setState(of: signIn.rowKey, to: .revoked, audit: nil, at: now) }),
        ("a client's", { _ = try await store.removeOAuthClient(client.id, audit: nil, at: now) }),
        ("a requestor's", { _ = try await store.remove(.requestor(stage.requestor), audit: nil, at: now) }),
      ]
      for (what, end) in ends {
        let before = store.standingMark
        try await end()
        try expect(store.standingMark != before, "\(what) end went unnoticed")
      }
    },
    ConformanceCheck("ending a grant signs out its device and no other") { stage in
      let (client, signIn) = try await stage.readyToGive()
      let other = try await stage.signedIn(2, device: 2)
      let grant = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      _ = try await stage.store.keep(stage.grant(2, client, other), at: stage.at(3))
      let ended = try await stage.store.endGrants(GrantFilter(id: grant.id), audit: nil, at: stage.at(4))
      try expect(ended == [signIn], "ended \(ended.count)")
      let standing = try await stage.store.standing(signIn.authentication.id, at: stage.at(4))
      try expect(standing == nil, "the device is signed in")
      let rest = try await stage.store.removeOAuthClient(client.id, audit: nil, at: stage.at(5))
      try expect(rest == [other], "with the client went \(rest.count)")
    },
    ConformanceCheck("no grant is given to a client that is missing or belongs to another requestor") { stage in
      let signIn = try await stage.signedIn(1)
      try await expect(.notFound(what: "client")) {
        try await stage.store.keep(stage.grant(1, stage.client(1), signIn), at: stage.at(3))
      }
      let foreign: RequestorID = try ConformanceFixture.name("OTHER")
      try await stage.put(.requestor(Requestor(id: foreign, name: "Other")))
      let client = try stage.client(1, of: foreign)
      try await stage.put(client)
      try await expect(.notFound(what: "client")) {
        try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      }
      try await expect(.notFound(what: "requestor")) {
        try await stage.put(stage.client(2, of: ConformanceFixture.name("nobody")))
      }
    },
  ]
}

extension ConformanceFixture {
  func client(
    _ number: Int, of requestor: RequestorID? = nil, second: Int = 0, origin: OAuthClientRecord.Origin = .itself
  ) throws -> OAuthClientRecord {
    OAuthClientRecord(
      id: try Self.name("client-\(number)"), requestor: requestor ?? self.requestor, origin: origin,
      name: "Client \(number)", secret: try hash(5000 + number), metadata: "{}", created: at(second))
  }

  func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord? = nil, in room: ClientRoom = .unlimited,
    second: Int = 1
  ) async throws {
    try await store.put(client, replacing: seen, in: room, audit: nil, at: at(second))
  }

  /// A client, and a device where Ann is signed in, ready for a grant.
  func readyToGive() async throws -> (OAuthClientRecord, AuthenticationRecord) {
    let client = try client(1)
    try await put(client)
    return (client, try await signedIn(1))
  }

  /// The grant that was made for a sign-in.
  fileprivate func kept(of signIn: AuthenticationRecord, second: Int) async throws -> GrantRecord? {
    let filter = GrantFilter(authentication: signIn.authentication.id)
    return try await store.grants(filter, after: nil, limit: 2, at: at(second)).first
  }

  func grant(
    _ number: Int, _ client: OAuthClientRecord, _ signIn: AuthenticationRecord, thumbprint: String? = nil
  ) throws -> GrantRecord {
    GrantRecord(
      id: try Self.name("grant-\(number)"), client: client.id, authentication: signIn.authentication.id,
      scope: "openid", thumbprint: thumbprint, created: at(3), idle: .seconds(100), ends: at(5000),
      rowKey: signIn.rowKey,
      generation: 0, rotated: at(3), answer: StoredSecret([1, 2, 3]))
  }
}
