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
  private enum Kind {
    /// A key pair, with all key pairs, among which one may have replaced another.
    case pair(PublicKey, [PublicKey: KeyPair])
    /// The clients of an application.
    case application(StatementID)
    /// An OAuth client.
    case client(ClientID)
  }

  private static let applicationPrefix = "statement:"
  private let kind: Kind

  /// Makes a key pair the owner.
  ///
  /// `pairs` must hold all key pairs, so that it can be found out which pair replaced which.
  public init(_ pair: PublicKey, among pairs: [PublicKey: KeyPair]) { kind = .pair(pair, pairs) }

  /// Makes the clients of an application the owner.
  public init(_ application: StatementID) { kind = .application(application) }

  /// Makes an OAuth client the owner.
  public init(_ client: ClientID) { kind = .client(client) }

  /// The owner's name, as rows store it.
  public var name: String {
    switch kind {
    case .pair(let pair, _): pair.text
    case .application(let id): Self.applicationPrefix + id.text
    case .client(let id): "client:" + id.text
    }
  }

  /// Whether this is the owner's name.
  ///
  /// It makes no string, because every poll compares the owner.
  private func isName(_ text: String) -> Bool {
    // All these ids are ASCII texts, of which equal ones have equal bytes.
    switch kind {
    case .pair(let pair, _): text == pair.text
    case .application(let id):
      text.utf8.count == Self.applicationPrefix.utf8.count + id.text.utf8.count
        && text.hasPrefix(Self.applicationPrefix)
        && Substring(text.utf8.dropFirst(Self.applicationPrefix.utf8.count)) == id.text
    case .client: text == name
    }
  }

  /// Whether a row with this description was made by this owner itself, or names no owner.
  public func made(_ about: DeviceDescription) -> Bool { about.owner.map(isName) ?? true }

  /// Whether a row with this description belongs to this owner.
  ///
  /// A row that names no owner belongs to every owner.
  public func owns(_ about: DeviceDescription) -> Bool {
    guard let owner = about.owner, !isName(owner) else { return true }
    switch kind {
    // The app's copies may have shared a key pair before the app switched to a software statement. The earlier sign-ins
    // stay its own.
    case .application: return PublicKey(owner).map { !$0.isBoxes } ?? false
    case .pair(let pair, let pairs):
      guard let mine = pairs[pair], let earlier = PublicKey(owner).flatMap({ pairs[$0] }) else { return false }
      return mine.succeeds(earlier)
    case .client: return false
    }
  }

  /// The hash under which the owner's sign-in is stored if another owner's sign-in has the hash `device`; nil for OAuth
  /// clients, whose device ids the service draws.
  public func separateHash(of device: DeviceHash) -> DeviceHash? {
    if case .client = kind { nil } else { device.separate(for: name) }
  }
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

  /// Whether an operator has replaced the earlier pair by this pair.
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
