import RegentCryptography
public import RegentPairing

/// The owner of a sign-in: the key pair that signed the request for its code, or the application of a registered
/// client.
///
/// A device id is not a credential. If a request names the same device id but was signed with another key pair of the
/// same requestor, the service answers as for a device that is not signed in. The owner's name is stored in the row's
/// `about`, which the row signature covers.
///
/// Two owners may use one device id at the same requestor. The first one's code and sign-in are stored under the hash
/// of the device id, and the other's under a separate hash (``separateHash(of:)``), so that neither ends the other's.
public struct SignInOwner: Sendable {
  /// The owner's name in stored rows: a public key, `statement:ID` or `client:ID`.
  public let name: String
  private let isApplication: Bool
  private let isClient: Bool
  private let pair: PublicKey?
  private let pairs: [PublicKey: KeyPair]

  /// Makes a key pair the owner.
  ///
  /// `pairs` must hold all key pairs, so that the initializer can find out which pair replaced which.
  public init(_ pair: PublicKey, among pairs: [PublicKey: KeyPair]) {
    name = pair.text
    isApplication = false
    isClient = false
    self.pair = pair
    self.pairs = pairs
  }

  /// Makes the clients of an application the owner.
  public init(_ application: StatementID) {
    name = "statement:\(application)"
    isApplication = true
    isClient = false
    pair = nil
    pairs = [:]
  }

  /// Makes an OAuth client the owner.
  public init(_ client: ClientID) {
    name = "client:\(client)"
    isApplication = false
    isClient = true
    pair = nil
    pairs = [:]
  }

  /// Whether a row with this description was made by this owner itself, or names no owner.
  public func made(_ about: DeviceDescription) -> Bool { about.owner.map { $0.utf8.elementsEqual(name.utf8) } ?? true }

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

  /// The hash under which the owner's sign-in is stored if another owner's sign-in has the hash `device`; nil for OAuth
  /// clients, whose device ids the service draws.
  public func separateHash(of device: DeviceHash) -> DeviceHash? { isClient ? nil : device.separate(for: name) }
}

extension KeyedHash where Kind == Hashed.Device {
  /// Derives the hash under which an owner's rows are stored while another owner's row has this hash.
  ///
  /// This hash is an HMAC with a key of the service, so no client can choose a device id whose separate hash equals the
  /// hash of another device.
  public func separate(for owner: String) -> DeviceHash {
    var text = Array("device of another owner\n".utf8)
    text += bytes
    text += owner.utf8
    guard let hash = DeviceHash(SHA256.hash(text)) else { preconditionFailure("SHA-256 has 32 bytes") }
    return hash
  }
}

extension DeviceDescription {
  /// Whether a new code or sign-in with this description leaves an earlier row of the same device id to its owner.
  ///
  /// `pair` looks up the key pair that owns the earlier row. The new row replaces a row that names no owner, a row of a
  /// revoked pair, and a row of a retired pair that is not a single box's.
  public func leaves(
    _ earlier: DeviceDescription, pair: (PublicKey) throws -> KeyPair?
  ) rethrows -> Bool {
    guard let owner, let other = earlier.owner, !owner.utf8.elementsEqual(other.utf8) else { return false }
    guard let key = PublicKey(other), let found = try pair(key) else { return true }
    switch found.state {
    case .revoked: return false
    case .retired: return key.isBoxes
    // A shared pair's rows also belong to the app's software statement (``SignInOwner/owns(_:)``).
    case .active: return key.isBoxes || PublicKey(owner) != nil
    }
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
