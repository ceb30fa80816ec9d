import PairingStore
import RegentPairing
import Testing

/// Checks which sign-ins of an account are ended when the account has too many.
@Suite struct SignInRoomTests {
  private static let now = Instant(milliseconds: 1_000_000_000)

  private func record(_ number: Int, issued: Instant) throws -> AuthenticationRecord {
    AuthenticationRecord(
      authentication: Authentication(
        id: try #require(AuthenticationID("authentication-\(number)")), requestor: try #require(RequestorID("R")),
        viewer: Viewer(provider: try #require(ProviderID("cable")), account: AccountName("anna")),
        household: nil, profile: nil, source: .regular, issued: issued, expires: Self.now + .seconds(86_400)),
      device: try #require(DeviceID("device-\(number)")),
      deviceHash: try #require(DeviceHash([UInt8](repeating: UInt8(number), count: 32))),
      rowKey: try #require(PublicKey("k")))
  }

  private func ended(_ issued: [Duration]) throws -> [String] {
    let all = try issued.enumerated().map { try record($0, issued: Self.now + $1) }
    let room = SignInRoom(most: all.count - 1) { _ in nil }
    return room.surplus(of: all, besides: all[0].authentication.id, at: Self.now).map(\.authentication.id.text)
  }

  @Test func `the oldest sign-in is ended, and never the new one`() throws {
    #expect(try ended([.seconds(-90), .seconds(-10), .seconds(-50)]) == ["authentication-2"])
  }

  @Test func `a sign-in that another node has just made counts as new although its clock is slightly ahead`() throws {
    #expect(try ended([.zero, .milliseconds(40), .seconds(-5)]) == ["authentication-2"])
    #expect(try ended([.zero, .seconds(59), .seconds(-5)]) == ["authentication-2"])
  }

  @Test func `a sign-in whose time is far in the future counts as the oldest`() throws {
    #expect(try ended([.zero, .seconds(3_600), .seconds(-5)]) == ["authentication-1"])
  }
}
