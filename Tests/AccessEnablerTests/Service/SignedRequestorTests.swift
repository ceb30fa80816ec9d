import Administration
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPairing
import RegentdTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Tests `signedRequestorID`, the older proof of an app's requestor, in both of its deprecated call forms.
@Suite("A signed requestor id", .regentd)
struct SignedRequestorTests {
  enum Form: CaseIterable, Sendable { case alone, withKeyPair }

  /// The callbacks and statuses that an app gets after `setRequestor` with that signature.
  private func lines(_ form: Form, _ signed: String, at live: LiveService) async throws -> [String] {
    let recorder = Recorder()
    var configuration = live.configuration()
    if form == .withKeyPair { configuration.credentials = nil }
    let enabler: any OlderCalls = try AccessEnabler(configuration, delegate: recorder)
    switch form {
    case .alone: enabler.setRequestor(live.requestor, signedRequestorID: signed, serviceProviders: nil)
    case .withKeyPair:
      enabler.setRequestor(
        live.requestor, signedRequestorID: signed, secret: live.secret, publicKey: live.publicKey,
        serviceProviders: [live.url])
    }
    try await recorder.wait(for: "setRequestorComplete")
    return recorder.lines
  }

  @Test(arguments: Form.allCases)
  func `a signed requestor id is accepted only when the requestor's certificate verifies it`(form: Form) async throws {
    let key = try SigningKey.generate(.rs256, rsaBits: 2048)
    let live = try await LiveService(requestor: { $0.certificate = key.publicKey.pem() })
    let signature = try key.sign(Array(live.requestor.utf8))
    let signed = Base64.encode(signature)
    #expect(try await lines(form, signed, at: live).contains("setRequestorComplete 1"))
    var bent = signature
    bent[bent.count / 2] ^= 1
    let another = try SigningKey.generate(.rs256, rsaBits: 2048)
    for wrong in [
      "c2lnbmVk", "garbage", "%%%", String(signed.dropLast(8)), Base64.encode(bent),
      Base64.encode(try key.sign(Array("\(live.requestor)x".utf8))),
      Base64.encode(try another.sign(Array(live.requestor.utf8))), String(repeating: "A", count: 4000),
    ] {
      let lines = try await lines(form, wrong, at: live)
      #expect(lines.contains("setRequestorComplete 0"), "\(wrong.prefix(40))")
      #expect(lines.first?.hasPrefix("status SEC403") == true, "\(lines)")
      #expect(lines.first?.contains("signed with the key of its certificate") == true, "\(lines)")
    }
  }

  @Test(arguments: Form.allCases)
  func `a signed requestor id without a certificate is refused, and the error and the doctor say what is missing`(
    form: Form
  ) async throws {
    let live = try await LiveService()
    let lines = try await lines(form, "c2lnbmVk", at: live)
    #expect(lines.contains("setRequestorComplete 0"))
    #expect(lines.first?.hasPrefix("status SEC403") == true)
    #expect(lines.first?.contains("has no certificate") == true, "\(lines)")
    func finding() async throws -> Bool {
      try await live.regentd.admin.doctor().contains {
        $0.check == "requestor \(live.requestor)" && $0.detail.contains("signedRequestorID")
          && $0.fix == "regentctl requestor set \(live.requestor) --certificate FILE"
      }
    }
    #expect(try await finding())
    var patch = Patch<Requestor>()
    patch.set(.certificate, .string(try SigningKey.generate(.rs256, rsaBits: 2048).publicKey.pem()))
    _ = try await live.regentd.admin.set(try named(live.requestor), patch)
    #expect(try await !finding())
  }

  @Test func `an app that sends no signed requestor id needs none`() async throws {
    let live = try await LiveService()
    #expect(try await lines(.withKeyPair, "", at: live).contains("setRequestorComplete 1"))
  }
}
