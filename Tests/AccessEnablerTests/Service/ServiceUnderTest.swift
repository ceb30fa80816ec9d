import RegentCryptography
import ServiceTestSupport
import TestSupport

@testable import AccessEnabler

/// A service that a test's enablers use, with a phone that approves its codes.
protocol ServiceUnderTest: Sendable {
  var url: String { get }
  /// The requestor of the test's enablers.
  var requestor: String { get }
  /// The key pair that signs its calls.
  var publicKey: String { get }
  var secret: String { get }

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

  /// An enabler that is configured with this service.
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

  /// Signs an enabler in; the phone approves the code as soon as there is one.
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
  /// The next code that the screen shows.
  func nextCode() async throws -> String {
    try await first("a code") { event in
      guard case .registrationCode(let offer) = event else { return nil }
      return offer.code
    }
  }
}
