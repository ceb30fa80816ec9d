import RegentPairing
import RegentPairingWire

/// The exchange of the box's sign-in for a sign-in of this app, step by step.
///
/// The service sends a signed challenge (the profile request), the box answers with an assertion, and the service
/// exchanges the assertion for a sign-in. If the service's response does not contain the sign-in, the app then fetches
/// it.
struct PlatformExchange: Hashable, Sendable {
  enum Step: Hashable, Sendable { case request, assertion, trade, fetch }

  let provider: String
  let service: String
  var step: Step

  /// What to do after the response to a step.
  enum Course: Hashable, Sendable {
    case next(Step, OutgoingCall.Operation)
    case granted(GrantedAuthentication)
    case failed(Failure)
  }

  enum Failure: Hashable, Sendable {
    /// The requestor does not support this provider for the box's shared account.
    case unsupported
    /// The box's own sign-in has ended.
    case parentGone
    /// Any other refusal of the service, or a network failure.
    case refused
    case trouble(PlatformTrouble)
    case silent(String)
  }

  func course(_ answer: ServiceAnswer) -> Course {
    switch (step, answer) {
    case (.request, .profileRequest(let request)):
      .next(.assertion, .platform(.assertion(profileRequest: request, provider: provider)))
    case (.assertion, .platform(.assertion(let assertion))):
      .next(.trade, .exchange(provider: provider, assertion: assertion))
    case (.assertion, .platform(.refused(.denied, _))): .failed(.trouble(.denied))
    case (.assertion, .platform(.refused(.undetermined, _))): .failed(.trouble(.undetermined))
    case (.assertion, .platform(.refused(.account, let why))):
      .failed(.trouble(PlatformTrouble(id: .platformAccount, context: why)))
    case (.assertion, .platform(.refused)): .failed(.refused)
    case (.assertion, .platform(.silent(let why))): .failed(.silent(why))
    case (.assertion, .platform): .failed(.silent("the daemon's answer cannot be read"))
    // A service may answer the exchange with a success without content, as the protocol allows. Then the sign-in is
    // fetched.
    case (.trade, .done): .next(.fetch, .authentication)
    case (.trade, .authentication(let granted)), (.fetch, .authentication(let granted)): Self.granted(granted)
    case (_, .failed(let failure)): .failed(Self.failure(failure))
    default: .failed(.refused)
    }
  }

  private static func granted(_ answer: GrantedAuthentication) -> Course {
    var granted = answer
    granted.source = .platform
    return .granted(granted)
  }

  /// Converts a service's refusal of the exchange to the reason.
  private static func failure(_ failure: ServiceFailure) -> Failure {
    guard failure.status == 400 else { return .refused }
    return switch failure.details.flatMap(ExchangeRefusal.init) {
    case .integration, .singleSignOn, .boarding: .unsupported
    case .parent: .parentGone
    case .degraded, .permission, .used, .assertion, nil: .refused
    }
  }
}
