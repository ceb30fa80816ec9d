import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import TestSupport
import Testing

@Suite struct `A database restored from a backup` {
  @Test func `a restore ends codes, browser sessions, invitations and grants, but not the sign-ins of boxes`()
    async throws
  {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let house = try await FullHouse(store)
        let stage = house.stage
        let invitation = EnrolmentRecord(
          id: try ConformanceFixture.name("7K3M"), requestor: stage.requestor, secret: StoredSecret([1]), uses: 1,
          created: stage.at(3), expires: stage.at(3600))
        try await store.invite(invitation, audit: nil, at: stage.at(3))
        let token: TokenHash = try stage.hash(9)
        try await store.invite(
          ClientInvitationRecord(
            id: try ConformanceFixture.name("4f2a9c01"), requestor: stage.requestor, token: token, uses: 1,
            created: stage.at(3), expires: stage.at(3600)), audit: nil, at: stage.at(3))
        let client = try stage.client(1)
        try await stage.put(client)
        let signIn = try await stage.signedIn(77, device: 77)
        _ = try await store.keep(stage.grant(1, client, signIn), at: stage.at(3))
        _ = try await stage.session(70, as: stage.bob, second: 4)
        let line = AuditEntry(at: stage.at(5), actor: .service, action: "backup.restore", subject: "database")
        try await store.beginEpoch(audit: line)
        #expect(try await store.registrations(after: nil, limit: 9, at: stage.at(5)).isEmpty)
        #expect(try await store.sessions(after: nil, limit: 9, at: stage.at(5)).isEmpty)
        #expect(try await store.enrolments(at: stage.at(5)).isEmpty)
        #expect(try await store.clientInvitation(token, at: stage.at(5)) == nil)
        #expect(try await store.grants(GrantFilter(), after: nil, limit: 9, at: stage.at(5)).isEmpty)
        #expect(try await store.standing(signIn.authentication.id, at: stage.at(5)) == nil)
        #expect(try await store.oauthClient(client.id) != nil)
        // Boxes stay signed in, and the audit log has a line about the restore.
        #expect(try await stage.pickUp(second: 6).signIn != nil)
        let number = try await store.newestAuditNumber()
        #expect(try await store.audit(after: number - 1, limit: 2).map(\.entry) == [line])
      }
    }
  }
}
