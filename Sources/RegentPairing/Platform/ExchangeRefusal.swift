/// Why the service refuses to exchange a box's assertion for an app sign-in.
///
/// The raw value is the member `details` of the 400 response.
public enum ExchangeRefusal: String, Hashable, Sendable, CaseIterable {
  /// The requestor of the app and the provider have no integration, or it is switched off.
  case integration
  /// Sign-ins with the box's shared account (single sign-on) are switched off for the integration.
  case singleSignOn = "sso"
  /// The provider does not support the box's shared account.
  case boarding
  /// An operator has ordered a degradation (allow or deny all viewers) for the integration, because the provider is out
  /// of order.
  case degraded
  /// The box's own sign-in has ended, was replaced by a new one, or is at another provider.
  case parent
  /// The viewer does not allow this app to use the box's account.
  case permission
  /// The profile request (the service's challenge) of the assertion was already used.
  case used
  /// The assertion is too old, answers another profile request, is for another service or provider, or is not signed by
  /// a registered box.
  case assertion
}

extension ExchangeRefusal: CustomStringConvertible {
  /// A sentence that tells the app author or operator what is wrong and what to do about it.
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
