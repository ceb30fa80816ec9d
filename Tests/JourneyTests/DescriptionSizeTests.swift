import HTTPTestSupport
import PairingStore
import RegentEncodings
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

/// How much a device may say of itself with a code.
@Suite struct `The size of device descriptions` {
  @Test func `a description that is too long keeps what the viewer sees, and a usual one keeps all`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      func about(_ length: Int) async throws -> DeviceDescription {
        let text = String(repeating: "x", count: length)
        let info = #"{"model":"Living room TV","osName":"\#(text)"}"#
        let made = try await box.send(
          "POST", "/reggie/v1/REF30/regcode",
          [
            "appId": text, "appVersion": text, "deviceUser": text, "custom": text,
            "generic_data": #"{"a":"\#(text)"}"#,
          ], headers: [("X-Device-Info", Base64.encode(Array(info.utf8))), ("User-Agent", "Player/1")])
        #expect(made.status == 201, "\(made.text)")
        let code = try #require(made["code"])
        return try #require(service.core.codes.find(try service.found(code))).about
      }
      let usual = try await about(200)
      #expect(usual.older.appID?.count == 200 && usual.options != nil && usual.information != nil)
      for length in [700, 1_000] {
        let long = try await about(length)
        #expect(long.size <= DeviceDescription.longest + AppTexts.longest, "\(long.size)")
        #expect(long.name == "Living room TV" && long.userAgent == "Player/1")
        #expect(long.data?.contains("xxx") == true)
        #expect((long.older.appID == nil) == (length == 1_000))
        #expect(long.options == nil)
      }
    }
  }
}
