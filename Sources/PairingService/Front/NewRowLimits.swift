internal import PairingStore
internal import RegentHTTPCodec
package import RegentPairing

/// Rows that a viewer can have written as often as there are names to invent.
package enum NewRow: Hashable, Sendable {
  /// A title that its sign-in did not have open.
  case permit
  /// A device that a viewer signs in.
  case signIn
}

/// Who shares a limit of new rows.
///
/// Guests are counted apart from accounts: a guest with a hundred addresses must not use up what the viewers with
/// accounts have.
package enum RowSharer: Hashable, Sendable {
  case account(Viewer)
  case household(ProviderID, HouseholdID)
  case source(SourceKey)
  /// Everybody with an account at one requestor.
  case accounts
  /// All guests of one requestor.
  case guests
}

extension RequestLimits {
  /// Of an account's limit: a household has some accounts, an address many viewers, a requestor very many.
  private static let (householdFactor, sourceFactor, requestorFactor) = (2, 20, 1000)
  /// A person pairs a few screens; an operator pairs a hotel's: a hundred at once and then one in ten seconds.
  private static let signInFactor = 10

  /// Takes one new permit, whose title the sign-in does not have yet: one that is renewed takes its row's place.
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

  /// Takes one new sign-in that a viewer approves.
  ///
  /// Households have no limit of their own here: operators alone make the accounts of one.
  func takeSignIn(of viewer: Viewer, from address: IPAddress?, at requestor: RequestorID) throws(CallError) {
    guard viewer.account != nil else {
      // A pass begins here as it does with the device's own call.
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

  /// Takes one new sign-in of a guest, of all guests of a requestor.
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
