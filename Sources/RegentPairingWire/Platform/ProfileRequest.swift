internal import RegentEncodings
public import RegentJSON
public import RegentPairing

/// What the service gives an app that wants in through the box's platform account: a signed text, opaque to the app,
/// that the app hands to the box's daemon.
///
/// The daemon reads it, so that the viewer's permission is asked for the right requestor; only the service can tell
/// whether it made it.
public struct ProfileRequest: Hashable, Sendable {
  /// The kind of signed text that it is.
  public static let type = "profile-request+jwt"
  /// How long it may be answered.
  public static let lifetime: Duration = .seconds(600)
  /// The longest that is read, in bytes.
  public static let longest = 4096

  /// Counts once.
  public let id: String
  /// The service: its public address.
  public let issuer: String
  public let requestor: RequestorID
  /// The device, as the service names it in hashes.
  public let device: String
  public let provider: ProviderID
  public let issued: Instant

  public init(
    id: String, issuer: String, requestor: RequestorID, device: String, provider: ProviderID, issued: Instant
  ) {
    self.id = id
    self.issuer = issuer
    self.requestor = requestor
    self.device = device
    self.provider = provider
    self.issued = issued
  }

  public var expires: Instant { issued + Self.lifetime }

  /// What is signed; times in milliseconds, as everywhere on this wire.
  public var claims: JSONObject {
    [
      "jti": .string(id), "iss": .string(issuer), "requestor": .string(requestor.text), "device": .string(device),
      "mvpd": .string(provider.text), "issued": .integer(issued.milliseconds),
    ]
  }

  /// What was signed.
  public init?(_ claims: JSONObject) {
    guard let id = claims["jti"]?.string, !id.isEmpty, id.utf8.count <= 128, let issuer = claims["iss"]?.string,
      let requestor = claims["requestor"]?.string.flatMap({ RequestorID($0) }), let device = claims["device"]?.string,
      let provider = claims["mvpd"]?.string.flatMap({ ProviderID($0) }), let issued = claims["issued"]?.int64
    else { return nil }
    self.init(
      id: id, issuer: issuer, requestor: requestor, device: device, provider: provider,
      issued: Instant(milliseconds: issued))
  }

  /// What a text says that nobody has verified: all that the box can know of it.
  public init?(unverified text: String) {
    guard let claims = UnverifiedClaims.of(text, longest: Self.longest) else { return nil }
    self.init(claims)
  }
}

enum UnverifiedClaims {
  static func of(_ text: String, longest: Int) -> JSONObject? {
    guard text.utf8.count <= longest else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = try? Base64URL.decode(String(parts[1])) else { return nil }
    return (try? JSONValue(reading: bytes, limits: JSONLimits(depth: 4, bytes: longest)))?.object
  }
}
