/// Why the service refuses to exchange a box assertion for an app sign-in.
///
/// The raw value is `details` in the 400 response.
public enum ExchangeRefusal: String, Hashable, Sendable, CaseIterable {
  /// The app and the provider have no integration, or it is switched off.
  case integration
  /// Single sign-on is switched off for the integration.
  case singleSignOn = "sso"
  /// The provider does not support platform sign-on.
  case boarding
  /// An operator has set a degradation for the integration.
  case degraded
  /// The box's own sign-in has ended, was replaced by a new one, or is at another provider.
  case parent
  /// The viewer does not allow this app to use the box's account.
  case permission
  /// The request was already used.
  case used
  /// The assertion is too old, is for another request, service or provider, or is not signed by a registered box.
  case assertion
}

extension ExchangeRefusal: CustomStringConvertible {
  /// Tells the app author or operator what is wrong and what to do about it.
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
