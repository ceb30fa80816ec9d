package import RegentCryptography
internal import RegentEncodings
package import RegentPairing
package import PairingStore

/// Makes the hashes under which secret things are kept and found; see `KeyedHash`.
///
/// One key for each kind of thing: a device id can never be taken for a code.
package struct KeyedHasher: Sendable {
  private let codes: HMACKey
  private let links: HMACKey
  private let tokens: HMACKey
  private let devices: HMACKey
  private let deviceCodes: HMACKey
  private let identities: HMACKey
  private let viewers: HMACKey
  private let screens: HMACKey

  /// Hashes with the service's own key material.
  package init(_ keys: some KeyStore) async throws {
    let codeMaterial = Secret(try await keys.keyMaterial(for: .codes))
    codes = try HMACKey(.sha256, codeMaterial)
    links = try HMACKey(.sha256, HKDF.derive(from: codeMaterial, info: "link"))
    tokens = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .tokens)))
    let material = Secret(try await keys.keyMaterial(for: .devices))
    devices = try HMACKey(.sha256, HKDF.derive(from: material, info: "device"))
    deviceCodes = try HMACKey(.sha256, HKDF.derive(from: material, info: "device code"))
    identities = try HMACKey(.sha256, HKDF.derive(from: material, info: "identity"))
    viewers = try HMACKey(.sha256, HKDF.derive(from: material, info: "viewer"))
    screens = try HMACKey(.sha256, HKDF.derive(from: material, info: "screen"))
  }

  package func code(_ code: RegistrationCode) -> CodeHash { hash(codes.code(code.letters)) }

  /// The secret in the link of a code: the same at every node and after a restart, with nothing kept.
  package func linkSecret(_ code: RegistrationCode) -> LinkSecret {
    guard let secret = LinkSecret(links.code(code.letters)) else { preconditionFailure("SHA-256 has 32 bytes") }
    return secret
  }

  /// Whether a code came with the secret of its link, which this service made.
  func isScanned(_ scanned: ScannedCode) -> Bool {
    guard let secret = scanned.secret else { return false }
    return constantTimeEqual(Array(secret.text.utf8), Array(linkSecret(scanned.code).text.utf8))
  }

  /// What tells one wrong code from another, at every node, and names none.
  func mark(of guess: String) -> Int64 {
    codes.code(guess).prefix(8).reduce(0) { $0 << 8 | Int64($1) }
  }

  /// A bearer token: a cookie, a client's secret.
  package func token(_ text: String) -> TokenHash { hash(tokens.code(text)) }

  /// Whether a text is the bearer token that was kept as this hash; without a hash it never is, and takes as long.
  package func isToken(_ text: String, _ kept: TokenHash?) -> Bool {
    let hash = token(text)
    let isSame = constantTimeEqual(hash.bytes, kept?.bytes ?? [UInt8](repeating: 0, count: 32))
    return isSame && kept != nil
  }

  /// A device id, byte by byte: two spellings of one letter are two devices.
  package func device(_ device: DeviceID) -> DeviceHash { hash(devices.code(device.text)) }

  /// What a client of OAuth was given with its code, which is its device: none that a call of protocol V1 names is the
  /// same, or whoever has an app's credential would have all that the viewer may watch, whatever the client may do.
  func deviceCode(_ device: DeviceID) -> DeviceHash { hash(deviceCodes.code(device.text)) }

  /// The screen of a sign-in, by which its name is kept.
  ///
  /// A device id alone would not do: it is the apps' to choose, so one app could name another's screens, and the next
  /// viewer on a device would read what the last one called it.
  package func screen(of record: AuthenticationRecord) -> ScreenHash {
    let authentication = record.authentication
    var fields = FramedFields(purpose: "screen", version: 1)
    fields.append(authentication.requestor.text)
    fields.append(authentication.viewer.provider.text)
    fields.append(authentication.viewer.account?.text)
    fields.append(record.deviceHash.bytes)
    return hash(screens.code(fields.bytes))
  }

  /// What a promotional pass was told about its viewer.
  package func identity(_ text: String) -> IdentityHash { hash(identities.code(text)) }

  /// The name by which one requestor's apps know a viewer.
  ///
  /// The same for ever, and another for each requestor: two of them cannot find out whom they share.
  package func userID(of viewer: Viewer, device: DeviceHash, at requestor: RequestorID)
    -> String
  {
    var fields = FramedFields(purpose: "user", version: 1)
    fields.append(requestor.text)
    fields.append(viewer.provider.text)
    fields.append(viewer.account?.text)
    // Without an account the box itself is all that is known of the viewer.
    if viewer.account == nil { fields.append(device.bytes) }
    return Hex.encode(viewers.code(fields.bytes))
  }

  private func hash<Kind>(_ bytes: [UInt8]) -> KeyedHash<Kind> {
    guard let hash = KeyedHash<Kind>(bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
    return hash
  }
}

extension Secret {
  /// Bytes that a store kept.
  package init(_ stored: StoredSecret) { self.init(copying: stored.bytes) }
}
