package import RegentJSON

/// The device authorization response (RFC 8628 §3.2).
///
/// The service sends it, and a box reads it from any OAuth server.
package struct DeviceAuthorizationAnswer: Sendable, Hashable {
  package var deviceCode: String
  package var userCode: String
  package var verificationURI: String
  package var verificationURIComplete: String?
  /// The lifetime of the device code and of the user code, in seconds.
  package var lifetime: Int64
  /// The interval between polls that the server asks for, in seconds.
  package var interval: Int64

  /// The polling interval when the response has none, in seconds (RFC 8628 §3.2).
  package static let usualInterval: Int64 = 5

  package init(
    deviceCode: String, userCode: String, verificationURI: String, verificationURIComplete: String?,
    lifetime: Int64, interval: Int64
  ) {
    self.deviceCode = deviceCode
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.lifetime = lifetime
    self.interval = interval
  }

  package var json: JSONObject {
    var object: JSONObject = [
      "device_code": .string(deviceCode), "user_code": .string(userCode),
      "verification_uri": .string(verificationURI), "expires_in": .integer(lifetime),
      "interval": .integer(interval),
    ]
    object["verification_uri_complete"] = verificationURIComplete.map(JSONValue.string)
    return object
  }

  /// Reads a device authorization response.
  ///
  /// Some servers write `verification_url`, as an early draft of the RFC did.
  package init(reading object: JSONObject) throws(JSONShapeError) {
    deviceCode = try object.string("device_code")
    userCode = try object.string("user_code")
    if let draft = try object.optionalString("verification_url"), object["verification_uri"] == nil {
      verificationURI = draft
    } else {
      verificationURI = try object.string("verification_uri")
    }
    verificationURIComplete = try object.optionalString("verification_uri_complete")
    lifetime = try object.int64("expires_in")
    interval = try object.optionalInt64("interval") ?? Self.usualInterval
    guard lifetime > 0 else {
      throw JSONShapeError(name: "expires_in", expected: "a number of seconds above 0", isMissing: false)
    }
    guard (0...3600).contains(interval) else {
      throw JSONShapeError(name: "interval", expected: "a number of seconds up to 3600", isMissing: false)
    }
  }
}

/// The response with the tokens (RFC 6749 §5.1).
package struct TokenAnswer: Sendable, Hashable {
  package var accessToken: String
  /// The token type: `Bearer`, or `DPoP` if a key must be proved with the token.
  package var kind: String
  /// The lifetime of the access token in seconds, or `nil` if the server does not send it.
  package var lifetime: Int64?
  package var refreshToken: String?
  package var scope: String?
  package var idToken: String?

  package init(
    accessToken: String, kind: String, lifetime: Int64?, refreshToken: String?, scope: String?, idToken: String?
  ) {
    self.accessToken = accessToken
    self.kind = kind
    self.lifetime = lifetime
    self.refreshToken = refreshToken
    self.scope = scope
    self.idToken = idToken
  }

  package func bytes() -> [UInt8] {
    JSONWriter.bytes(capacity: 2048) { json in
      json.object { json in
        json.member("access_token", accessToken)
        json.member("token_type", kind)
        if let lifetime { json.member("expires_in", lifetime) }
        if let refreshToken { json.member("refresh_token", refreshToken) }
        if let scope { json.member("scope", scope) }
        if let idToken { json.member("id_token", idToken) }
      }
    }
  }

  package init(reading object: JSONObject) throws(JSONShapeError) {
    accessToken = try object.string("access_token")
    kind = try object.string("token_type")
    lifetime = try object.optionalInt64("expires_in")
    refreshToken = try object.optionalString("refresh_token")
    scope = try object.optionalString("scope")
    idToken = try object.optionalString("id_token")
  }
}
