import PairingStore
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Names of screens` {
  @Test func `an account has 256 names, and the oldest of a screen that is signed out makes room`() async throws {
    let service = try await TestService()
    let (core, now) = (service.core, service.clock.now)
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try await newCode(service, client, device: "one"))
      try await phone.send("approve")
    }
    let signedIn = try #require(
      try await core.store.authentications(AuthenticationFilter(), after: nil, limit: 9, at: now).first)
    /// Another device of the same account, which is signed out.
    func gone(_ number: Int) throws -> AuthenticationRecord {
      let device = try #require(DeviceID("invented-\(number)"))
      return AuthenticationRecord(
        authentication: signedIn.authentication, device: device, deviceHash: core.hasher.device(device),
        rowKey: signedIn.rowKey)
    }
    func name(_ record: AuthenticationRecord) async throws -> String? {
      try await core.screenNames(of: [record]).values.first
    }
    // A name that a release up to 0.1.0 stored in a row of its own.
    try await core.store.name(core.hasher.screen(of: gone(0)), "Old", audit: nil, at: now)
    #expect(try await name(gone(0)) == "Old")
    try await core.setScreenName(signedIn, "Living room", audit: nil, at: now)
    for number in 0..<256 { try await core.setScreenName(gone(number), "\(number)", audit: nil, at: now) }
    #expect(try await name(signedIn) == "Living room")
    #expect(try await name(gone(0)) == nil, "the oldest makes room, and its earlier row is gone")
    #expect(try await name(gone(1)) == "1")
    #expect(try await name(gone(255)) == "255")
    try await core.setScreenName(signedIn, nil, audit: nil, at: now)
    #expect(try await name(signedIn) == nil)
    // Erasing the account deletes the names of signed-out screens, too.
    let viewer = signedIn.authentication.viewer
    #expect(try await core.screenNames(of: viewer).count == 255)
    try await core.deleteScreenNames(of: viewer, at: now)
    #expect(try await core.screenNames(of: viewer).isEmpty)
  }
}
