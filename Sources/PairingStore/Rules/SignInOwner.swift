public import RegentPairing

/// The owner of a sign-in: the key pair that signed the request for its code, or the application of a registered
/// client.
///
/// A device id is not a credential. When another key pair of the same requestor names the device id, it gets the
/// response of a device that is not signed in. The owner's name is stored in the row's `about`, which is signed.
public struct SignInOwner: Sendable {
  /// The name of the owner in rows.
  public let name: String
  private let isApplication: Bool
  private let pair: PublicKey?
  private let pairs: [PublicKey: KeyPair]

  /// A key pair as owner.
  ///
  /// All pairs are needed to find out which pair replaced which.
  public init(_ pair: PublicKey, among pairs: [PublicKey: KeyPair]) {
    name = pair.text
    isApplication = false
    self.pair = pair
    self.pairs = pairs
  }

  /// The clients of an application as owner.
  public init(_ application: StatementID) {
    name = "statement:\(application)"
    isApplication = true
    pair = nil
    pairs = [:]
  }

  /// An OAuth client as owner.
  public init(_ client: ClientID) {
    name = "client:\(client)"
    isApplication = false
    pair = nil
    pairs = [:]
  }

  /// Whether a row with this description belongs to this owner.
  ///
  /// A row without an owner belongs to every owner.
  public func owns(_ about: DeviceDescription) -> Bool {
    guard let owner = about.owner, !owner.utf8.elementsEqual(name.utf8) else { return true }
    // An app whose copies shared a key pair may have switched to a software statement; its earlier sign-ins stay its
    // own.
    if isApplication { return PublicKey(owner).map { !$0.isBoxes } ?? false }
    guard let mine = pair.flatMap({ pairs[$0] }), let earlier = PublicKey(owner).flatMap({ pairs[$0] }) else {
      return false
    }
    return mine.succeeds(earlier)
  }
}

extension KeyPair {
  /// The prefix of the public keys of boxes' own pairs.
  ///
  /// A pair without it is shared by all copies of an app.
  public static let boxPrefix = "box-"

  /// Whether an operator has replaced the other pair by this one.
  ///
  /// The other pair is then retired or revoked.
  ///
  /// A box's own pair replaces no pair. A revoked pair of a box has no successor, because the box may have been stolen.
  func succeeds(_ earlier: KeyPair) -> Bool {
    guard requestor == earlier.requestor, purpose == .calls, earlier.purpose == .calls, !publicKey.isBoxes,
      created >= earlier.created
    else { return false }
    switch earlier.state {
    case .active: return false
    case .retired: return true
    case .revoked: return !earlier.publicKey.isBoxes
    }
  }
}

extension PublicKey {
  fileprivate var isBoxes: Bool { text.utf8.starts(with: KeyPair.boxPrefix.utf8) }
}
