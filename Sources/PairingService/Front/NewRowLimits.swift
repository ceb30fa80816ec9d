internal import PairingStore
internal import RegentHTTPCodec
package import RegentPairing

/// Rows that a viewer can cause to be written in any number, by inventing names.
package enum NewRow: Hashable, Sendable {
  /// A permit for a title that the sign-in had no permit for.
  case permit
  /// A sign-in of a device that the viewer approves.
  case signIn
}

/// A group that shares one limit for new rows.
///
/// Guests are counted separately from accounts, so that a guest with a hundred addresses cannot use up the limit of the
/// viewers with accounts.
package enum RowSharer: Hashable, Sendable {
  case account(Viewer)
  case household(ProviderID, HouseholdID)
  case source(SourceKey)
  /// All viewers with accounts at one requestor.
  case accounts
  case guests
}

extension RequestLimits {
  /// Multiples of an account's limit: a household has a few accounts, an address many viewers, a requestor very many.
  private static let (householdFactor, sourceFactor, requestorFactor) = (2, 20, 1000)
  /// A viewer pairs a few screens; an operator who pairs a hotel's may do a hundred at once and then one every ten
  /// seconds.
  private static let signInFactor = 10

  /// Takes one new permit from the limits.
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
    if let source = SourceKey(address) {
      all.append((.rows(.permit, .source(source)), nil, permits.times(Self.sourceFactor)))
    }
    if viewer.account != nil { all.append((.rows(.permit, .account(viewer)), nil, permits)) }
    if let household = authentication.household {
      all.append(
        (.rows(.permit, .household(viewer.provider, household)), nil, permits.times(Self.householdFactor)))
    }
    try refuse("too many new titles were opened: wait, then try again") { () throws(CallError) in try take(all) }
  }

  /// Takes one new sign-in that a viewer approves from the limits.
  ///
  /// Households have no limit here, because only operators create their accounts.
  func takeSignIn(of viewer: Viewer, from address: IPAddress?, at requestor: RequestorID) throws(CallError) {
    guard viewer.account != nil else {
      // An approval without an account starts a temporary pass, so it counts like a pass that a device starts itself.
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
    if let source = SourceKey(address) {
      all.append((.rows(.signIn, .source(source)), nil, limits.newcomers.times(Self.signInFactor)))
    }
    try refuse("too many devices were signed in: wait, then try again") { () throws(CallError) in try take(all) }
  }

  /// Takes one new guest sign-in from the limit of all guests of a requestor.
  func takeGuest(at requestor: RequestorID) throws(CallError) {
    try refuse("too many guests came in: wait, then try again") { () throws(CallError) in
      try take([(.rows(.signIn, .guests), requestor, limits.newcomers.times(Self.requestorFactor / Self.signInFactor))])
    }
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
