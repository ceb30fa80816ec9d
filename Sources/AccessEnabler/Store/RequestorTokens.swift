import RegentPairing

/// What is kept for one requestor: the token cache.
struct RequestorTokens: Hashable, Sendable {
  var authentication: StoredAuthentication?
  /// Permits by resource.
  var permits: [String: StoredPermit] = [:]
  /// The provider that was chosen last.
  var selected: MVPD?
  /// A code that somebody may be typing at this moment.
  var pending: PendingCode?
  /// Services that must still be told that this device signed out.
  var unfinishedLogouts: [String] = []
}

/// That this device is signed in, and at which service.
struct StoredAuthentication: Hashable, Sendable {
  var signIn: SignIn
  var service: String

  func isValid(at now: Instant) -> Bool { now < signIn.expires }
}

/// The permit for one resource.
struct StoredPermit: Hashable, Sendable {
  var expires: Instant
  var source: DecisionSource

  func isValid(at now: Instant) -> Bool { now < expires }
}

/// Who decided, as far as the service tells.
enum DecisionSource: String, Hashable, Sendable, CaseIterable {
  case mvpd, temppass, degradation
}

/// A registration code that is waited for.
struct PendingCode: Hashable, Sendable {
  var offer: RegistrationOffer
}

/// One change to a requestor's tokens.
///
/// Two processes may share a store: each writes only what it changed, over what is there.
enum StoreChange: Hashable, Sendable {
  /// A new sign-in, or none any more; either way what was derived from an earlier one goes.
  case authentication(StoredAuthentication?)
  case permit(String, StoredPermit?)
  case selected(MVPD?)
  case pending(PendingCode?)
  /// This code is over; one that another process of the same store asked for meanwhile stays.
  case pendingOver(String)
  case unfinishedLogout(service: String, isOpen: Bool)
  /// Everything but the sign-outs that services must still hear of.
  case signedOut
}

extension RequestorTokens {
  /// How many permits are kept; a box that plays more than this in a day asks again for the oldest.
  static let mostPermits = 256

  mutating func apply(_ change: StoreChange) {
    switch change {
    case .authentication(let new):
      let isSame =
        new?.signIn.provider.id == authentication?.signIn.provider.id
        && new?.signIn.userID == authentication?.signIn.userID
      authentication = new
      if new == nil || !isSame { permits = [:] }
    case .permit(let resource, let permit):
      permits[resource] = permit
      if permits.count > Self.mostPermits,
        let oldest = permits.min(by: { $0.value.expires < $1.value.expires })
      {
        permits[oldest.key] = nil
      }
    case .selected(let provider): selected = provider
    case .pending(let code): pending = code
    case .pendingOver(let code):
      if let pending, pending.offer.code.isSameText(as: code) { self.pending = nil }
    case .unfinishedLogout(let service, let isOpen):
      unfinishedLogouts.removeAll { $0.isSameText(as: service) }
      if isOpen { unfinishedLogouts.append(service) }
    case .signedOut:
      let open = unfinishedLogouts
      self = RequestorTokens()
      unfinishedLogouts = open
    }
  }
}
