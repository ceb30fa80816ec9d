import RegentCryptography
import ServiceTestSupport
import TestSupport

@testable import AccessEnabler

/// A service that a test's enablers speak to, and somebody who answers its codes.
protocol ServiceUnderTest: Sendable {
  var url: String { get }
  /// Whose app the test's enablers are.
  var requestor: String { get }
  /// The key pair for its calls.
  var publicKey: String { get }
  var secret: String { get }

  /// Says yes to a code.
  func approve(_ code: String) async throws
}

extension ServiceUnderTest {
  func configuration(_ storage: TokenStorage = .memory) -> EnablerConfiguration {
    var configuration = EnablerConfiguration(
      credentials: .keyPair(publicKey: publicKey, secret: Secret(secret)), services: [url],
      storage: storage)
    configuration.timing.poll = .milliseconds(50)
    configuration.timing.longestPause = .milliseconds(200)
    configuration.timing.configuration = .seconds(20)
    return configuration
  }

  /// An enabler of this service, configured.
  func enabler(
    _ storage: TokenStorage = .memory, delegate: (any EntitlementDelegate)? = nil,
    _ change: (inout EnablerConfiguration) -> Void = { _ in }
  ) async throws -> AccessEnabler {
    var configuration = configuration(storage)
    change(&configuration)
    let enabler = try AccessEnabler(configuration, delegate: delegate)
    try await enabler.configure(requestor: requestor)
    return enabler
  }

  /// Signs an enabler in: the phone says yes as soon as there is a code.
  @discardableResult
  func signIn(
    _ enabler: AccessEnabler, at provider: String = Sample.provider
  ) async throws -> SignIn {
    let (codes, seen) = AsyncStream<String>.makeStream()
    let phone = Task { try await approve(try await codes.next("a code")) }
    let signIn = try await awaiting("the sign-in") {
      try await enabler.authenticate(.provider(provider)) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    seen.finish()
    _ = await phone.result
    return signIn
  }
}

extension AsyncStream<EntitlementEvent> {
  /// The code that the screen shows next.
  func nextCode() async throws -> String {
    try await first("a code") { event in
      guard case .registrationCode(let offer) = event else { return nil }
      return offer.code
    }
  }
}
