import RegentPairing

/// The stored tokens of one requestor (an app publisher).
struct RequestorTokens: Hashable, Sendable {
  var authentication: StoredAuthentication?
  /// The permits (stored authorizations) by resource.
  var permits: [String: StoredPermit] = [:]
  /// The provider that the viewer selected last.
  var selected: MVPD?
  /// A registration code that a viewer may be typing.
  var pending: PendingCode?
  /// Services that have not been told yet that this device signed out.
  var unfinishedLogouts: [String] = []
}

/// The stored sign-in of this device, with the service that granted it.
struct StoredAuthentication: Hashable, Sendable {
  var signIn: SignIn
  var service: String

  func isValid(at now: Instant) -> Bool { now < signIn.expires }
}

struct StoredPermit: Hashable, Sendable {
  var expires: Instant
  var source: DecisionSource

  func isValid(at now: Instant) -> Bool { now < expires }
}

/// What granted a permit (a stored authorization): the provider, a temporary pass, or a degradation (an operator's
/// order to allow viewers while the provider is out of order).
enum DecisionSource: String, Hashable, Sendable, CaseIterable {
  case mvpd, temppass, degradation
}

/// A registration code whose approval is awaited.
struct PendingCode: Hashable, Sendable {
  var offer: RegistrationOffer
}

/// A change to a requestor's tokens.
///
/// Two processes may share a store. Each writes only its own changes into the current content.
enum StoreChange: Hashable, Sendable {
  /// A new sign-in, or the end of one (nil).
  ///
  /// If the viewer or provider changes, the permits of the earlier sign-in are removed.
  case authentication(StoredAuthentication?)
  case permit(String, StoredPermit?)
  case selected(MVPD?)
  case pending(PendingCode?)
  /// This registration code is no longer valid.
  ///
  /// If another process has stored a newer code, that code stays.
  case pendingOver(String)
  case unfinishedLogout(service: String, isOpen: Bool)
  /// The device signed out: removes all tokens except the list of services that have not been told of a sign-out yet.
  case signedOut
}

extension RequestorTokens {
  /// How many permits (stored authorizations) are kept.
  ///
  /// A box that plays more titles in a day loses its oldest permit and requests it again.
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
