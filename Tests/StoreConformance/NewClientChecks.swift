import PairingStore
import RegentPairing

extension StoreConformance {
  static let newClientChecks = [
    ConformanceCheck("at the limit, a new client replaces the oldest one that never paired, once that is old enough") {
      stage in
      let (paired, signIn) = try await stage.readyToGive()
      _ = try await stage.store.keep(stage.grant(1, paired, signIn), at: stage.at(3))
      for number in [3, 2] { try await stage.put(stage.client(number, second: 20 - number)) }
      func register(_ number: Int, before: Int) async throws {
        let room = ClientRoom(most: 3, forgettingBefore: stage.at(before))
        try await stage.put(stage.client(number, second: 30), in: room, second: 30)
      }
      // Client 2 was registered at second 18 and client 3 at second 17; client 1 has paired and may not be removed.
      try await expect(.tooManyClients(limit: 3)) { try await register(4, before: 16) }
      try await register(4, before: 18)
      try expect(try await stage.ids() == ["client-1", "client-2", "client-4"], "left \(try await stage.ids())")
      try await register(5, before: 18)
      try expect(try await stage.ids() == ["client-1", "client-4", "client-5"], "left \(try await stage.ids())")
      try await expect(.tooManyClients(limit: 3)) { try await register(6, before: 18) }
      // Updating a registered client needs no place, and clients of another origin have a limit of their own.
      try await stage.put(stage.client(5, second: 30), in: ClientRoom(most: 3, forgettingBefore: nil))
      try await stage.put(stage.client(7, origin: .operator), in: ClientRoom(most: 3, forgettingBefore: nil))
      try expect(try await stage.ids().count == 4, "left \(try await stage.ids())")
    },
    ConformanceCheck("a client with a registration time in the future can be replaced, because its clock was wrong") {
      stage in
      try await stage.put(stage.client(1, second: 5000))
      let room = ClientRoom(most: 1, forgettingBefore: stage.at(0))
      try await stage.put(stage.client(2, second: 4999), in: room, second: 4999)
      try expect(try await stage.ids() == ["client-2"], "left \(try await stage.ids())")
      try await expect(.tooManyClients(limit: 1)) {
        try await stage.put(stage.client(3, second: 4999), in: room, second: 4999)
      }
    },
    ConformanceCheck("a client that registered by itself or with a statement and never paired is forgotten after a day")
    { stage in
      let (paired, signIn) = try await stage.readyToGive()
      _ = try await stage.store.keep(stage.grant(1, paired, signIn), at: stage.at(3))
      try await stage.put(stage.client(2))
      try await stage.put(stage.client(3, second: 1))
      for (number, origin) in [(4, OAuthClientRecord.Origin.operator), (5, .statement), (6, .invited)] {
        try await stage.put(stage.client(number, origin: origin))
      }
      while try await stage.store.forgetExpired(at: stage.at(86_399), limit: 10) > 0 {}
      try expect(try await stage.ids().count == 6, "left \(try await stage.ids())")
      while try await stage.store.forgetExpired(at: stage.at(86_400), limit: 10) > 0 {}
      let rest = ["client-1", "client-3", "client-4", "client-6"]
      try expect(try await stage.ids() == rest, "left \(try await stage.ids())")
      // The grant of client 1 ended long ago, but the client did pair and is kept.
      while try await stage.store.forgetExpired(at: stage.at(999 * 86_400), limit: 10) > 0 {}
      try expect(try await stage.ids() == rest.filter { $0 != "client-3" }, "left \(try await stage.ids())")
    },
    ConformanceCheck("a client invitation admits as many clients as it says, also when more register at once") {
      stage in
      let invitation = try stage.clientInvitation(1, uses: 3)
      try await stage.store.invite(invitation, audit: nil, at: stage.at(1))
      try await stage.store.invite(invitation, audit: nil, at: stage.at(1))
      try await expect(.codeTaken) {
        try await stage.store.invite(stage.clientInvitation(1, uses: 4), audit: nil, at: stage.at(1))
      }
      let results = try await stage.together(16) { number in
        try await stage.store.register(
          stage.client(number, origin: .invited), invitedBy: invitation.token, audit: nil, at: stage.at(2))
      }
      try expect(results.successes().count == 3, "there are \(results.successes().count)")
      try expect(try await stage.ids().count == 3, "are \(try await stage.ids())")
      try expect(try await stage.store.clientInvitation(invitation.token, at: stage.at(2)) == nil, "still counts")
      try expect(try await stage.store.clientInvitations(at: stage.at(2)).isEmpty, "is still listed")
    },
    ConformanceCheck("a client invitation ends when it expires or is revoked, and is valid for its requestor only") {
      stage in
      let one = try stage.clientInvitation(1, uses: 9)
      let two = try stage.clientInvitation(2, uses: 9)
      for invitation in [one, two] { try await stage.store.invite(invitation, audit: nil, at: stage.at(1)) }
      func register(_ number: Int, _ invitation: ClientInvitationRecord, second: Int) async throws {
        try await stage.store.register(
          stage.client(number, origin: .invited), invitedBy: invitation.token, audit: nil, at: stage.at(second))
      }
      try await register(1, one, second: 99)
      try await register(1, one, second: 99)
      try expect(try await stage.store.clientInvitation(one.token, at: stage.at(99))?.used == 1, "counts twice")
      try await expect(ClientInvitationRecord.missing) { try await register(2, one, second: 101) }
      try await stage.store.revokeClientInvitation(two.id, audit: nil, at: stage.at(2))
      try await expect(ClientInvitationRecord.missing) { try await register(2, two, second: 3) }
      try await expect(ClientInvitationRecord.missing) {
        try await stage.store.revokeClientInvitation(two.id, audit: nil, at: stage.at(2))
      }
      let foreign: RequestorID = try ConformanceFixture.name("OTHER")
      try await stage.put(.requestor(Requestor(id: foreign, name: "Other")))
      try await expect(ClientInvitationRecord.missing) {
        try await stage.store.register(
          stage.client(3, of: foreign, origin: .invited), invitedBy: one.token, audit: nil, at: stage.at(3))
      }
      try await expect(.notFound(what: "requestor")) {
        let nobody: RequestorID = try ConformanceFixture.name("nobody")
        try await stage.store.invite(stage.clientInvitation(3, uses: 1, of: nobody), audit: nil, at: stage.at(1))
      }
      let left = try await stage.store.clientInvitations(at: stage.at(99))
      try expect(left.map(\.id) == [one.id], "lists \(left.map(\.id))")
    },
  ]
}

extension ConformanceFixture {
  fileprivate func ids() async throws -> [String] {
    try await store.oauthClients(of: nil, after: nil, limit: 100).map(\.id.text)
  }

  func clientInvitation(
    _ number: Int, uses: Int, of requestor: RequestorID? = nil
  ) throws -> ClientInvitationRecord {
    ClientInvitationRecord(
      id: try Self.name("invitation-\(number)"), requestor: requestor ?? self.requestor, token: try hash(9000 + number),
      uses: uses, created: at(0), expires: at(100))
  }
}
