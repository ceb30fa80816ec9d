import RegentPairing
import RegentPairingWire

/// The box's account turned into a sign-in of this app: the service's request, the box's word, the service's yes.
struct PlatformExchange: Hashable, Sendable {
  enum Step: Hashable, Sendable { case request, assertion, trade, fetch }

  let provider: String
  let service: String
  var step: Step

  /// What an answer means at this step.
  enum Course: Hashable, Sendable {
    case next(Step, OutgoingCall.Operation)
    case granted(GrantedAuthentication)
    case failed(Failure)
  }

  enum Failure: Hashable, Sendable {
    /// This requestor cannot use that provider.
    case unsupported
    /// The box's sign-in has ended.
    case parentGone
    /// Any other no, of the service's or of the network's.
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
    // A service that tells no more than that it is done, as the protocol has it.
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

  /// What the service names as the reason of its no.
  private static func failure(_ failure: ServiceFailure) -> Failure {
    guard failure.status == 400 else { return .refused }
    return switch failure.details.flatMap(ExchangeRefusal.init) {
    case .integration, .singleSignOn, .boarding: .unsupported
    case .parent: .parentGone
    case .degraded, .permission, .used, .assertion, nil: .refused
    }
  }
}
