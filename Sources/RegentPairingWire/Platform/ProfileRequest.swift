internal import RegentEncodings
public import RegentJSON
public import RegentPairing

/// The service's signed challenge with which an app signs in through the box's shared account (the platform account).
///
/// The app passes it to the box's daemon without reading it.
///
/// The daemon reads the requestor in it, for which it asks the viewer's permission. Only the service can verify it.
public struct ProfileRequest: Hashable, Sendable {
  public static let type = "profile-request+jwt"
  /// How long after ``issued`` the box may answer a profile request.
  public static let lifetime: Duration = .seconds(600)
  /// The longest profile request that is parsed, in bytes.
  public static let longest = 4096

  /// A unique id of the profile request.
  ///
  /// The service accepts one answer for it.
  public let id: String
  /// The service's public address.
  public let issuer: String
  public let requestor: RequestorID
  /// The hash by which the service identifies the device.
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

  /// The claims of the profile request, to be signed.
  ///
  /// As everywhere in this protocol, times are in milliseconds.
  public var claims: JSONObject {
    [
      "jti": .string(id), "iss": .string(issuer), "requestor": .string(requestor.text), "device": .string(device),
      "mvpd": .string(provider.text), "issued": .integer(issued.milliseconds),
    ]
  }

  /// Reads the claims of a profile request.
  ///
  /// Returns `nil` if one is missing or malformed.
  public init?(_ claims: JSONObject) {
    guard let id = claims["jti"]?.string, !id.isEmpty, id.utf8.count <= 128, let issuer = claims["iss"]?.string,
      let requestor = claims["requestor"]?.string.flatMap({ RequestorID($0) }), let device = claims["device"]?.string,
      let provider = claims["mvpd"]?.string.flatMap({ ProviderID($0) }), let issued = claims["issued"]?.int64
    else { return nil }
    self.init(
      id: id, issuer: issuer, requestor: requestor, device: device, provider: provider,
      issued: Instant(milliseconds: issued))
  }

  /// Reads a profile request without verifying its signature, which only the service can do.
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
