import Administration
import CommandKit
import RegentPairing
import RegentPlatform

/// Which boxes a command is about, where a service has a hundred thousand.
struct DeviceFilter {
  static let requestor = Input.option(
    "requestor", identifier("ID", Names.Requestor.self), "of one requestor only"
  ).completedByRequestors()
  static let provider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "whose viewer is one of this provider"
  ).completedByProviders()
  static let account = Input.option(
    "account", identifier("NAME", Names.Account.self), "whose viewer has this name")
  static let visitor = Input.option(
    "visitor", .text("ID"), "whose app gave this visitor id")
  static let since = Input.option(
    "since", .duration(.seconds(1)...(.seconds(3_650 * 86_400))), "signed in within this time")
  static let before = Input.option(
    "before", .duration(.seconds(1)...(.seconds(3_650 * 86_400))), "signed in longer ago than this")

  static let inputs: [any InputDeclaration] = [requestor, provider, account, visitor, since, before]

  private let requestor: RequestorID?
  private let provider: ProviderID?
  private let account: AccountName?
  private let visitor: String?
  private let earliest: Instant?
  private let latest: Instant?

  init(_ call: Invocation, requestor: RequestorID? = nil) {
    let now = Instant(milliseconds: Clocks.wallMilliseconds())
    self.requestor = requestor ?? call[Self.requestor]
    provider = call[Self.provider]
    account = call[Self.account]
    visitor = call[Self.visitor]
    earliest = call[Self.since].map { now - $0 }
    latest = call[Self.before].map { now - $0 }
  }

  /// Whether it leaves anything out.
  var isNarrow: Bool {
    requestor != nil || provider != nil || account != nil || visitor != nil || earliest != nil || latest != nil
  }

  private func includes(_ signIn: SignIn) -> Bool {
    (provider == nil || provider == signIn.provider)
      && (account == nil || account == signIn.account)
      && (visitor == nil || visitor == signIn.app?.visitorID)
      && (earliest.map { signIn.issued >= $0 } ?? true) && (latest.map { signIn.issued < $0 } ?? true)
  }

  /// Gives the sign-ins away page by page, in the order of their ids.
  ///
  /// - Parameters:
  ///   - admin: the service.
  ///   - after: the sign-in behind which to begin.
  ///   - limit: how many at most.
  ///   - take: gets each page.
  /// - Returns: the last sign-in, when the limit ended it and there may be more.
  /// - Throws: `AdminError`; the pages before were given away.
  func read(
    _ admin: AdminClient, after: AuthenticationID? = nil, limit: Int = .max,
    _ take: ([SignIn]) -> Void
  ) async throws(AdminError) -> AuthenticationID? {
    var (last, left) = (after, limit)
    while true {
      let page = try await admin.signIns(of: requestor, after: last)
      let fitting = Array(page.lazy.filter(includes).prefix(left))
      take(fitting)
      left -= fitting.count
      if left == 0, let end = fitting.last { return end.id }
      guard page.count >= AdminPaths.page, let end = page.last else { return nil }
      last = end.id
    }
  }
}
