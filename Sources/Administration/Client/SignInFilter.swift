public import RegentPairing

/// Which sign-ins a list is about; what is not said does not narrow it.
public struct SignInFilter: Hashable, Sendable {
  public var requestor: RequestorID?
  public var provider: ProviderID?
  /// Whose viewer has this name, at whichever provider.
  public var account: AccountName?
  /// Whose app gave this visitor id.
  public var visitorID: String?
  /// Those signed in at this moment or later.
  public var since: Instant?
  /// Those signed in earlier than this moment.
  public var before: Instant?

  public init() {}

  /// Whether it leaves anything out.
  public var isNarrow: Bool { self != SignInFilter() }

  /// The service does it; a service of an earlier version knows the requestor only, and sends the others too.
  func includes(_ signIn: SignIn) -> Bool {
    (requestor == nil || requestor == signIn.requestor)
      && (provider == nil || provider == signIn.provider)
      && (account == nil || account == signIn.account)
      && (visitorID == nil || visitorID == signIn.app?.visitorID)
      && (since.map { signIn.issued >= $0 } ?? true) && (before.map { signIn.issued < $0 } ?? true)
  }

  var query: [(name: String, value: String?)] {
    [
      ("requestor", requestor?.text), ("provider", provider?.text), ("account", account?.text), ("visitor", visitorID),
      ("since", since.map { String($0.milliseconds) }), ("before", before.map { String($0.milliseconds) }),
    ]
  }
}

extension AdminClient {
  /// The sign-ins that a filter means, page by page, in the order of their ids.
  ///
  /// - Parameters:
  ///   - filter: which.
  ///   - after: the sign-in behind which to begin.
  ///   - limit: how many at most.
  ///   - take: gets each page before the next is asked for.
  /// - Returns: the last sign-in, when the limit ended it and there may be more.
  /// - Throws: `AdminError`, or what `take` throws; the pages before were given away.
  public func signIns(
    _ filter: SignInFilter, after: AuthenticationID? = nil, limit: Int = .max,
    _ take: ([SignIn]) async throws -> Void
  ) async throws -> AuthenticationID? {
    var (last, left, isFiltered) = (after, limit, true)
    while true {
      // A service that does not filter gets the usual pages: one of a few entries might hold none that is meant.
      let asked = isFiltered ? min(left, AdminPaths.page) : AdminPaths.page
      let page: [SignIn] = try await list(
        AdminPaths.signIns, query: filter.query + [("after", last?.text), ("limit", String(asked))])
      let fitting = page.filter(filter.includes)
      if fitting.count < page.count { isFiltered = false }
      let taken = Array(fitting.prefix(left))
      try await take(taken)
      left -= taken.count
      if left == 0, let end = taken.last { return end.id }
      guard page.count >= asked, let end = page.last else { return nil }
      last = end.id
    }
  }
}
