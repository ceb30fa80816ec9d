internal import RegentEncodings
public import RegentJSON
public import RegentPairing

/// A signed text of the service that lets an app sign in with the box's platform account.
///
/// The app passes it to the box's daemon without reading it.
///
/// The daemon reads it to ask the viewer about the right requestor. Only the service can verify it.
public struct ProfileRequest: Hashable, Sendable {
  public static let type = "profile-request+jwt"
  /// How long after ``issued`` a request may be answered.
  public static let lifetime: Duration = .seconds(600)
  /// The longest request that is parsed, in bytes.
  public static let longest = 4096

  /// A unique id.
  ///
  /// The service accepts one answer for it.
  public let id: String
  /// The service's public address.
  public let issuer: String
  public let requestor: RequestorID
  /// The device, as the hash by which the service identifies it.
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

  /// The claims to sign.
  ///
  /// As everywhere in this protocol, times are in milliseconds.
  public var claims: JSONObject {
    [
      "jti": .string(id), "iss": .string(issuer), "requestor": .string(requestor.text), "device": .string(device),
      "mvpd": .string(provider.text), "issued": .integer(issued.milliseconds),
    ]
  }

  /// Reads the claims.
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

  /// Reads a request without verifying its signature.
  ///
  /// Only the service can verify it.
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
