import HTTPTestSupport
import PairingStore
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// From the approval to the long poll of the box.
@Suite struct `Handing an approval to a waiting box` {
  private let authn = "/api/v1/tokens/authn.json?deviceId=box-1"

  @Test func `a waiting box gets its approval before the service writes to the database that it was delivered`()
    async throws
  {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let code = try await service.code(client)
      async let authentication = service.call(client, "GET", authn, headers: [("Prefer", "wait=55")])
      async let check = service.call(
        client, "GET", "/api/v1/checkauthn.json?deviceId=box-1", headers: [("Prefer", "wait=55")])
      try await eventually("both long polls are parked") { service.core.waiters.count == 2 }
      let id = try await service.approve(code)
      let answer = try await authentication
      #expect(answer.status == 200)
      #expect(try await check.json() == answer.json())
      // The delivery is written once for both long polls, without a further request.
      try await eventually("the delivery is written") {
        service.core.codes.find(id)?.flow.state.status == .delivered && service.core.metrics.now[.codesDelivered] > 0
      }
      #expect(service.core.metrics.now[.codesDelivered] == 1)
      #expect(
        try await service.call(client, "GET", authn).text == answer.text)
    }
  }

  @Test func `an approval is not handed over when its sign-in has expired or was ended`() async throws {
    let service = try await TestService()
    let code = try await service.code(InProcessClient(try service.router()))
    let id = try await service.approve(code)
    let transitions = service.core.signInTransitions
    let approval = try #require(service.core.codes.find(id)?.flow.state.approval)
    let signIn = try #require(
      try await service.core.store.standing(approval.authentication, at: service.clock.now))
    #expect(transitions.handOver(signIn.record, of: id))
    service.clock.pass(.seconds(366 * 24 * 3600))
    #expect(!transitions.handOver(signIn.record, of: id))
    service.clock.pass(.seconds(-366 * 24 * 3600))
    try await transitions.signOut(signIn.record.deviceHash, at: signIn.authentication.requestor, of: nil)
    #expect(!transitions.handOver(signIn.record, of: id))
  }
}
