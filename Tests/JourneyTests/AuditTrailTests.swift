import PairingStore
import RegentHTTPCodec
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `lines of the audit log that strangers cause` {
  private func lines(_ service: TestService) async throws -> [String] {
    try await eventually("the lines are written") { service.core.audit.linesUnderWay == 0 }
    return try await service.core.store.audit(after: 0, limit: 100_000).map(\.entry.subject)
  }

  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  @Test func `are bounded for one noisy address, and leave out nobody else's`() async throws {
    let service = try await TestService()
    let (noisy, quiet) = (try address("198.51.100.7"), try address("203.0.113.9"))
    for number in 0..<6000 {
      service.core.audit.note(.service, "session.start", "noise", .refused, onceFor: "\(number)", from: noisy)
    }
    // By chance two networks of 256 buckets share one: of three, two are enough.
    for third in 113...115 {
      let other = third == 113 ? quiet : try address("203.0.\(third).9")
      service.core.audit.note(.service, "session.start", "quiet-\(third)", .refused, once: true, from: other)
    }
    let written = try await lines(service)
    #expect((1...64).contains(written.count { $0 == "noise" }))
    #expect(written.count { $0.hasPrefix("quiet-") } >= 2)
    // A minute later the noisy one is heard again.
    service.clock.pass(.seconds(61))
    service.core.audit.note(.service, "session.start", "later", .refused, once: true, from: noisy)
    #expect(try await lines(service).contains("later"))
  }
}
