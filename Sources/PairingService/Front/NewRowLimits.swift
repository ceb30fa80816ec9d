internal import PairingStore
internal import RegentHTTPCodec
package import RegentPairing

/// A kind of database row that viewers can cause to be written in any number, by inventing names.
package enum NewRow: Hashable, Sendable {
  /// A permit (stored permission) for a title for which the sign-in had no permit.
  case permit
  /// A sign-in of a device that a viewer approves.
  case signIn
}

/// A group of viewers that shares one limit for new database rows.
///
/// Guests are counted separately from accounts, so that a guest with a hundred addresses cannot use up the limit of the
/// viewers with accounts.
package enum RowSharer: Hashable, Sendable {
  case account(Viewer)
  case household(ProviderID, HouseholdID)
  case source(SourceKey)
  /// The limit for new rows is shared by all viewers with accounts at one requestor.
  case accounts
  case guests
}

extension RequestLimits {
  /// The limits for households, addresses and requestors as multiples of an account's limit.
  ///
  /// A household has a few accounts, an address many viewers, a requestor very many.
  private static let (householdFactor, sourceFactor, requestorFactor) = (2, 20, 1000)
  /// The factor between the limits for new sign-ins and those for new permits.
  ///
  /// A viewer pairs a few screens. An operator who pairs a hotel's screens may do a hundred at once and then one every
  /// ten seconds.
  private static let signInFactor = 10

  /// Counts one new permit against the rate limits for new rows.
  ///
  /// Do not call it for a permit that is renewed, because that replaces its row.
  func takePermit(of authentication: Authentication, from address: IPAddress?) throws(CallError) {
    let (viewer, permits) = (authentication.viewer, limits.permits)
    var all = [
      (
        subject: Subject.rows(.permit, viewer.account == nil ? .guests : .accounts),
        requestor: Optional(authentication.requestor), limit: permits.times(Self.requestorFactor)
      )
    ]
    all += bySource(.permit, address, permits.times(Self.sourceFactor))
    if viewer.account != nil { all.append((.rows(.permit, .account(viewer)), nil, permits)) }
    if let household = authentication.household {
      all.append(
        (.rows(.permit, .household(viewer.provider, household)), nil, permits.times(Self.householdFactor)))
    }
    try refuse("too many new titles were opened within a short time: wait, then try again") { () throws(CallError) in
      try take(all)
    }
  }

  /// Counts one new sign-in that a viewer approves against the rate limits for new rows.
  ///
  /// Households have no limit here, because only operators create their accounts.
  func takeSignIn(of viewer: Viewer, from address: IPAddress?, at requestor: RequestorID) throws(CallError) {
    guard viewer.account != nil else {
      // An approval without an account starts a temporary pass, so it is counted like a pass that a device starts
      // itself.
      try take(.guest, from: address, at: requestor)
      return try takeGuest(at: requestor)
    }
    var all = [
      (
        subject: Subject.rows(.signIn, .accounts), requestor: Optional(requestor),
        limit: limits.newcomers.times(Self.requestorFactor / Self.signInFactor)
      ),
      (.rows(.signIn, .account(viewer)), nil, limits.newcomers.slowed(by: Self.signInFactor)),
    ]
    all += bySource(.signIn, address, limits.newcomers.times(Self.signInFactor))
    try refuse("too many devices signed in within a short time: wait, then try again") { () throws(CallError) in
      try take(all)
    }
  }

  /// Counts one new guest sign-in against the rate limit of all guests of a requestor.
  func takeGuest(at requestor: RequestorID) throws(CallError) {
    try refuse("too many guests signed in within a short time: wait, then try again") { () throws(CallError) in
      try take([(.rows(.signIn, .guests), requestor, limits.newcomers.times(Self.requestorFactor / Self.signInFactor))])
    }
  }

  /// The limits for new rows from an address: that of the address, and that of the subscriber's whole IPv6 network.
  private func bySource(_ row: NewRow, _ address: IPAddress?, _ limit: RateLimit)
    -> [(subject: Subject, requestor: RequestorID?, limit: RateLimit)]
  {
    bySource(address, limit, at: nil) { .rows(row, .source($0)) }
  }

  private func refuse(_ sentence: String, _ body: () throws(CallError) -> Void) throws(CallError) {
    do throws(CallError) {
      try body()
    } catch {
      var refusal = error
      refusal.details = sentence
      throw refusal
    }
  }
}
