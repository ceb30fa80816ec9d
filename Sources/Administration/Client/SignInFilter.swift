public import RegentPairing

/// Selects devices' sign-ins for a list; a property that is nil does not restrict the list.
public struct SignInFilter: Hashable, Sendable {
  public var requestor: RequestorID?
  public var provider: ProviderID?
  /// Selects sign-ins of accounts with this name, at any provider.
  public var account: AccountName?
  /// Selects sign-ins whose app reported this visitor id.
  public var visitorID: String?
  /// Selects only sign-ins from this time on.
  public var since: Instant?
  /// Selects only sign-ins before this time.
  public var before: Instant?

  public init() {}

  /// Whether the filter restricts the list at all.
  public var isNarrow: Bool { self != SignInFilter() }

  /// Whether a sign-in matches the filter.
  ///
  /// The service filters too. But an earlier version filters by requestor only and returns the other sign-ins as well.
  func includes(_ signIn: SignInEntry) -> Bool {
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
  /// Requests the matching sign-ins page by page, in the order of their ids.
  ///
  /// `after` is the last sign-in of the previous call. `take` gets each page before the next is requested. Returns
  /// the last sign-in if `limit` ended the list, so that the caller can continue there; nil at the end of the list.
  /// Throws `AdminError` or the error of `take`; `take` may have received some pages by then.
  public func signIns(
    _ filter: SignInFilter, after: AuthenticationID? = nil, limit: Int = .max,
    _ take: ([SignInEntry]) async throws -> Void
  ) async throws -> AuthenticationID? {
    var (last, left, isFiltered) = (after, limit, true)
    while true {
      // An earlier version of the service does not filter by all properties. It is asked for full pages, because a
      // short page might contain no matching sign-in.
      let asked = isFiltered ? min(left, AdminPaths.page) : AdminPaths.page
      let page: [SignInEntry] = try await list(
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
