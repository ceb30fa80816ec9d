import Administration
import CommandKit
import RegentPairing
import RegentPlatform

/// The options that select boxes, for services with up to 100,000 of them.
enum DeviceFilter {
  static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "select sign-ins of this requestor"
  ).completedByRequestors()
  static let provider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "select sign-ins of this provider's viewers"
  ).completedByProviders()
  static let account = Input.option(
    "account", identifier("NAME", Names.Account.self), "select sign-ins of accounts with this name")
  static let visitor = Input.option(
    "visitor", .text("ID"), "select sign-ins whose app set this visitor id")
  static let since = Input.option(
    "since", .duration(.seconds(1)...(.seconds(3_650 * 86_400))),
    "select boxes that signed in within this time, such as 24h")
  static let before = Input.option(
    "before", .duration(.seconds(1)...(.seconds(3_650 * 86_400))),
    "select boxes that signed in longer ago than this, such as 365d")

  static let inputs: [any InputDeclaration] = [requestor, provider, account, visitor, since, before]

  /// The filter of sign-ins that the user's options describe.
  static func chosen(_ call: Invocation, requestor other: RequestorID? = nil) -> SignInFilter {
    let now = Instant(milliseconds: Clocks.wallMilliseconds())
    var filter = SignInFilter()
    filter.requestor = other ?? call[requestor]
    filter.provider = call[provider]
    filter.account = call[account]
    filter.visitorID = call[visitor]
    filter.since = call[since].map { now - $0 }
    filter.before = call[before].map { now - $0 }
    return filter
  }
}
