package import RegentCryptography
internal import RegentEncodings
package import RegentPairing
package import PairingStore

/// Computes the hashes under which secret values are stored and found; see `KeyedHash`.
///
/// Each kind of value has its own key, so that the hash of a device id can never equal that of a code.
package struct KeyedHasher: Sendable {
  private let codes: HMACKey
  private let links: HMACKey
  private let tokens: HMACKey
  private let clients: HMACKey
  private let devices: HMACKey
  private let deviceCodes: HMACKey
  private let identities: HMACKey
  private let viewers: HMACKey
  private let screens: HMACKey
  private let erased: HMACKey
  private let records: HMACKey

  package init(_ keys: some KeyStore) async throws {
    let codeMaterial = Secret(try await keys.keyMaterial(for: .codes))
    codes = try HMACKey(.sha256, codeMaterial)
    links = try HMACKey(.sha256, HKDF.derive(from: codeMaterial, info: "link"))
    let tokenMaterial = Secret(try await keys.keyMaterial(for: .tokens))
    tokens = try HMACKey(.sha256, tokenMaterial)
    clients = try HMACKey(.sha256, HKDF.derive(from: tokenMaterial, info: "client"))
    let material = Secret(try await keys.keyMaterial(for: .devices))
    devices = try HMACKey(.sha256, HKDF.derive(from: material, info: "device"))
    deviceCodes = try HMACKey(.sha256, HKDF.derive(from: material, info: "device code"))
    identities = try HMACKey(.sha256, HKDF.derive(from: material, info: "identity"))
    viewers = try HMACKey(.sha256, HKDF.derive(from: material, info: "viewer"))
    screens = try HMACKey(.sha256, HKDF.derive(from: material, info: "screen"))
    erased = try HMACKey(.sha256, HKDF.derive(from: material, info: "erased viewer"))
    records = try HMACKey(.sha256, HKDF.derive(from: codeMaterial, info: "record"))
  }

  package func code(_ code: RegistrationCode) -> CodeHash { hash(codes.code(code.letters)) }

  /// The secret in a code's link, which the QR code contains.
  ///
  /// It is derived from the code, so every node computes the same secret, also after a restart, and nothing is stored.
  package func linkSecret(_ code: RegistrationCode) -> LinkSecret {
    guard let secret = LinkSecret(links.code(code.letters)) else { preconditionFailure("SHA-256 has 32 bytes") }
    return secret
  }

  /// Whether a phone sent the code together with the right secret of its link.
  ///
  /// Only this service can make that secret, so the phone opened the link, and did not guess the code.
  func isScanned(_ scanned: ScannedCode) -> Bool {
    guard let secret = scanned.secret else { return false }
    return constantTimeEqual(Array(secret.text.utf8), Array(linkSecret(scanned.code).text.utf8))
  }

  /// The id of a code's record for clients other than the device that created the code.
  ///
  /// They must not learn the record's id, because an app may use that as its device's id, which lets its holder act as
  /// the device.
  func publicID(of record: RegistrationID) -> String {
    Random.uuid(custom: Array(records.code(record.text).prefix(16)))
  }

  /// A number that identifies a wrong code.
  ///
  /// It is the same at every node and does not reveal the code.
  func mark(of guess: String) -> Int64 {
    codes.code(guess).prefix(8).reduce(0) { $0 << 8 | Int64($1) }
  }

  /// The hash of a bearer token, such as a cookie or a client secret.
  package func token(_ text: String) -> TokenHash { hash(tokens.code(text)) }

  /// Whether a text is the bearer token with this stored hash.
  ///
  /// When there is no hash, the answer is false after the same time, so that timing does not reveal which tokens exist.
  package func isToken(_ text: String, _ kept: TokenHash?) -> Bool {
    let hash = token(text)
    let isSame = constantTimeEqual(hash.bytes, kept?.bytes ?? [UInt8](repeating: 0, count: 32))
    return isSame && kept != nil
  }

  /// The secret of a client that registered with a software statement.
  ///
  /// It is derived from the id, so every node computes the same secret, and a registration stores nothing.
  func clientSecret(_ id: ClientID) -> String { Hex.encode(clients.code(id.text)) }

  /// The hash of a device id.
  ///
  /// The id's bytes are hashed, so two Unicode spellings of the same letter are two devices.
  package func device(_ device: DeviceID) -> DeviceHash { hash(devices.code(device.text)) }

  /// The hash of the device code that an OAuth client got.
  ///
  /// It takes the place of a device id.
  ///
  /// It is made with a key of its own, so that no device id in a request of protocol V1 has the same hash. Otherwise an
  /// attacker with an app's credential could send the device code as a device id, and get everything that the viewer
  /// may watch, whatever the client is allowed.
  func deviceCode(_ device: DeviceID) -> DeviceHash { hash(deviceCodes.code(device.text)) }

  /// The hash under which the name of a screen is stored (a screen is a device with a requestor's app and a viewer).
  ///
  /// The device id alone does not suffice, because the app chooses it. One app could rename another's screens, and the
  /// next viewer on a device could read the name that the last viewer gave it.
  package func screen(of record: AuthenticationRecord) -> ScreenHash {
    let authentication = record.authentication
    var fields = FramedFields(purpose: "screen", version: 1)
    fields.append(authentication.requestor.text)
    fields.append(authentication.viewer.provider.text)
    fields.append(authentication.viewer.account?.text)
    fields.append(record.deviceHash.bytes)
    return hash(screens.code(fields.bytes))
  }

  /// The hash under which the names of all screens of an account are stored; nil for a guest, who has no account.
  func screens(of viewer: Viewer) -> ScreenHash? {
    guard let account = viewer.account else { return nil }
    var fields = FramedFields(purpose: "screens", version: 1)
    fields.append(viewer.provider.text)
    fields.append(account.text)
    return hash(screens.code(fields.bytes))
  }

  /// The hash of the identity that an app sent for a promotional temporary pass.
  package func identity(_ text: String) -> IdentityHash { hash(identities.code(text)) }

  /// The id by which the apps of one requestor know a viewer.
  ///
  /// It never changes. It is different for each requestor, so that two requestors cannot find out which viewers they
  /// share.
  package func userID(of viewer: Viewer, device: DeviceHash, at requestor: RequestorID)
    -> String
  {
    var fields = FramedFields(purpose: "user", version: 1)
    fields.append(requestor.text)
    fields.append(viewer.provider.text)
    fields.append(viewer.account?.text)
    // A guest has no account, so the id is made from the box.
    if viewer.account == nil { fields.append(device.bytes) }
    return Hex.encode(viewers.code(fields.bytes))
  }

  /// The name that replaces an erased viewer's name in the audit log.
  ///
  /// It is the same each time, so that an erasure that was interrupted can be continued. Without the key the name
  /// cannot be found by trying names.
  func pseudonym(of viewer: Viewer) -> AccountName {
    var fields = FramedFields(purpose: "erased", version: 1)
    fields.append(viewer.provider.text)
    fields.append(viewer.account?.text)
    guard let name = AccountName("erased-\(Hex.encode(Array(erased.code(fields.bytes).prefix(8))))") else {
      preconditionFailure("letters and digits are an account name")
    }
    return name
  }

  private func hash<Kind>(_ bytes: [UInt8]) -> KeyedHash<Kind> {
    guard let hash = KeyedHash<Kind>(bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
    return hash
  }
}

extension Secret {
  /// Copies the bytes of a secret that a store returned.
  package init(_ stored: StoredSecret) { self.init(copying: stored.bytes) }
}
