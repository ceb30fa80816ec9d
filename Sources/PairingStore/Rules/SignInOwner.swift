public import RegentPairing

/// To whom a sign-in belongs: the key pair that signed the call for its code, or the app of a registered client.
///
/// A device id alone is no credential: another key pair of the same requestor that names it gets the answer of a device
/// that is not signed in. The owner's name lies in the row's `about`, which is signed.
public struct SignInOwner: Sendable {
  /// What rows say of it.
  public let name: String
  private let isApplication: Bool
  private let pair: PublicKey?
  private let pairs: [PublicKey: KeyPair]

  /// A key pair, with all that there are: they tell which of them succeeds which.
  public init(_ pair: PublicKey, among pairs: [PublicKey: KeyPair]) {
    name = pair.text
    isApplication = false
    self.pair = pair
    self.pairs = pairs
  }

  /// The clients of one application.
  public init(_ application: StatementID) {
    name = "statement:\(application)"
    isApplication = true
    pair = nil
    pairs = [:]
  }

  /// A client of OAuth.
  public init(_ client: ClientID) {
    name = "client:\(client)"
    isApplication = false
    pair = nil
    pairs = [:]
  }

  /// Whether what was made with this description belongs to it; what says no owner belongs to every pair.
  public func owns(_ about: DeviceDescription) -> Bool {
    guard let owner = about.owner, !owner.utf8.elementsEqual(name.utf8) else { return true }
    // An app that had a pair in all its copies may have a statement now.
    if isApplication { return PublicKey(owner).map { !$0.isBoxes } ?? false }
    guard let mine = pair.flatMap({ pairs[$0] }), let earlier = PublicKey(owner).flatMap({ pairs[$0] }) else {
      return false
    }
    return mine.succeeds(earlier)
  }
}

extension KeyPair {
  /// What the public key of a box's own pair begins with; others lie in every copy of an app.
  public static let boxPrefix = "box-"

  /// Whether an operator has put this pair in the place of another one, which is retired or revoked.
  ///
  /// A box's own pair succeeds none. One that was revoked has no successor: the box may be in other hands.
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
