/// Why the box's word is not taken for a sign-in: what stands in `details` of the service's 400.
public enum ExchangeRefusal: String, Hashable, Sendable, CaseIterable {
  /// The integration is off, or there is none.
  case integration
  /// Single sign-on is off for it.
  case singleSignOn = "sso"
  /// The provider takes no part in the platform's sign-on.
  case boarding
  /// An operator has degraded the integration.
  case degraded
  /// The box's own sign-in has ended, was made anew, or is at another provider.
  case parent
  /// The viewer does not let this app use it.
  case permission
  /// The request was answered before.
  case used
  /// The word is too old, or for another request, service or provider, or not signed by a box that is known.
  case assertion
}

extension ExchangeRefusal: CustomStringConvertible {
  /// What is wrong and what to do about it.
  public var description: String {
    switch self {
    case .integration: "the app does not work with the provider of the box's account"
    case .singleSignOn: "single sign-on is off for this app and provider: regentctl integrate --sso on switches it on"
    case .boarding: "the provider takes no part in platform sign-on: regentctl provider set --boarding supported"
    case .degraded: "the provider is out of order, and its users are handled by hand"
    case .parent: "the box's own sign-in has ended: sign in on the box again"
    case .permission: "the viewer does not let this app use the box's account"
    case .used: "the request was answered before: ask for a new one"
    case .assertion: "the box's answer does not count: ask for a new request"
    }
  }
}
