public import RegentPairing

/// The owner of a sign-in: the key pair that signed the request for its code, or the application of a registered
/// client.
///
/// A device id is not a credential. If a request names the same device id but was signed with another key pair of the
/// same requestor, the service answers as for a device that is not signed in. The owner's name is stored in the row's
/// `about`, which the row signature covers.
public struct SignInOwner: Sendable {
  /// The owner's name, as rows store it.
  public let name: String
  private let isApplication: Bool
  private let pair: PublicKey?
  private let pairs: [PublicKey: KeyPair]

  /// Makes a key pair the owner.
  ///
  /// `pairs` must hold all key pairs, so that the initializer can find out which pair replaced which.
  public init(_ pair: PublicKey, among pairs: [PublicKey: KeyPair]) {
    name = pair.text
    isApplication = false
    self.pair = pair
    self.pairs = pairs
  }

  /// Makes the clients of an application the owner.
  public init(_ application: StatementID) {
    name = "statement:\(application)"
    isApplication = true
    pair = nil
    pairs = [:]
  }

  /// Makes an OAuth client the owner.
  public init(_ client: ClientID) {
    name = "client:\(client)"
    isApplication = false
    pair = nil
    pairs = [:]
  }

  /// Whether a row with this description belongs to this owner.
  ///
  /// A row that names no owner belongs to every owner.
  public func owns(_ about: DeviceDescription) -> Bool {
    guard let owner = about.owner, !owner.utf8.elementsEqual(name.utf8) else { return true }
    // The app's copies may have shared a key pair before the app switched to a software statement. The earlier sign-ins
    // stay its own.
    if isApplication { return PublicKey(owner).map { !$0.isBoxes } ?? false }
    guard let mine = pair.flatMap({ pairs[$0] }), let earlier = PublicKey(owner).flatMap({ pairs[$0] }) else {
      return false
    }
    return mine.succeeds(earlier)
  }
}

extension KeyPair {
  /// The prefix of the public key of a pair that belongs to a single box.
  ///
  /// A pair without this prefix is shared by all copies of an app.
  public static let boxPrefix = "box-"

  /// Whether an operator has replaced the earlier pair by this one.
  ///
  /// The earlier pair is then retired or revoked.
  ///
  /// A pair of a single box replaces no pair. Its revoked pair has no successor, because the box may have been stolen.
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
