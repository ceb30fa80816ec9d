internal import RegentEncodings
public import RegentJSON
import RegentPairing

extension RegcodeDocument: ReadableDocument {
  /// Reads the record of a registration code.
  ///
  /// Regent's extensions have defaults, so that records of other services can be read.
  public init(from object: JSONObject) throws(JSONShapeError) {
    let info = try RegcodeInfo(from: object.object("info"))
    let status = try object.optionalString("state").map { text throws(JSONShapeError) in
      guard let status = PairingStatus(rawValue: text) else {
        throw JSONShapeError(name: "state", expected: "a known state")
      }
      return status
    }
    let shown = try object.optionalString("verificationURL") ?? info.older.registrationURL ?? ""
    self.init(
      id: try object.string("id"), code: try object.string("code"),
      requestor: try object.string("requestor"), provider: try object.optionalString("mvpd"),
      generated: try object.instant("generated"), expires: try object.instant("expires"),
      info: info, status: status ?? .offered, sequence: try object.optionalInt("sequence") ?? 0,
      match: try object.optionalInt("match"), verificationURL: shown,
      verificationURLComplete: try object.optionalString("verificationURLComplete") ?? shown)
  }
}

extension RegcodeInfo {
  fileprivate init(from object: JSONObject) throws(JSONShapeError) {
    let older = OlderDeviceFields(
      deviceType: try object.optionalString("deviceType"),
      deviceUser: try object.optionalString("deviceUser"),
      appID: try object.optionalString("appId"),
      appVersion: try object.optionalString("appVersion"),
      registrationURL: try object.optionalString("registrationURL"))
    let application = try object.optionalObject("sourceApplicationInformation")
    self.init(
      deviceID: try Self.clear(try? Base64.decode(object.string("deviceId")), "deviceId"),
      deviceInformation: try object.optionalString("deviceInfo").map {
        text throws(JSONShapeError) in
        try Self.clear(try? Base64.decodeLeniently(text), "deviceInfo")
      },
      userAgent: try object.optionalString("userAgent"),
      originalUserAgent: try object.optionalString("originalUserAgent"),
      authorizationType: try object.optionalString("authorizationType"),
      application: try application.map { object throws(JSONShapeError) in
        Application(
          id: try object.string("id"), name: try object.string("name"),
          version: try object.string("version"))
      },
      older: older)
  }

  private static func clear(_ bytes: [UInt8]?, _ name: String) throws(JSONShapeError) -> String {
    guard let bytes, let clear = String(validating: bytes, as: UTF8.self), !clear.hasTooManyMarks
    else { throw JSONShapeError(name: name, expected: "base64 of text") }
    return clear
  }
}

extension AuthenticationDocument: ReadableDocument {
  public init(from object: JSONObject) throws(JSONShapeError) {
    self.init(
      requestor: try object.string("requestor"), provider: try object.string("mvpd"),
      userID: try object.string("userId"), expires: try object.instant("expires"))
  }
}

extension AuthorizationDocument: ReadableDocument {
  public init(from object: JSONObject) throws(JSONShapeError) {
    self.init(
      provider: try object.string("mvpd"), resource: try object.string("resource"),
      requestor: try object.string("requestor"), expires: try object.instant("expires"),
      proxiedProvider: try object.optionalString("proxyMvpd"))
  }
}

extension MediaTokenDocument: ReadableDocument {
  /// Reads the response with a media token.
  ///
  /// ``ReceivedMediaToken`` parses the token itself.
  public init(from object: JSONObject) throws(JSONShapeError) {
    self.init(
      resource: try object.string("resource"), requestor: try object.string("requestor"),
      expires: try object.instant("expires"),
      serializedToken: try object.string("serializedToken"), userID: try object.string("userId"),
      provider: try object.string("mvpdId"))
  }
}

extension ClientDocument: ReadableDocument {
  public init(from object: JSONObject) throws(JSONShapeError) {
    self.init(
      id: try object.string("client_id"), secret: try object.string("client_secret"),
      issued: Instant(milliseconds: 0)
        + .seconds(try object.optionalInt64("client_id_issued_at") ?? 0),
      redirectURIs: try object.optionalStrings("redirect_uris") ?? [],
      statement: try object.optionalString("software_statement"))
  }
}

extension AccessTokenDocument: ReadableDocument {
  /// Reads an access token.
  ///
  /// The token's lifetime is `expires_in`, even where the protocol's documentation says otherwise.
  public init(from object: JSONObject) throws(JSONShapeError) {
    guard let lifetime = try object.optionalInt("expires_in"), lifetime > 0 else {
      throw JSONShapeError(name: "expires_in", expected: "a number of seconds")
    }
    self.init(
      id: try object.optionalString("id") ?? "", token: try object.string("access_token"),
      created: try object.optionalInstant("created_at") ?? Instant(milliseconds: 0),
      lifetime: lifetime)
  }
}

/// The accepted times in epoch milliseconds: numbers of at most sixteen characters, which is about 300,000 years.
///
/// Larger numbers cannot be meant as times, and adding a duration to them could overflow.
private let readableTimes: ClosedRange<Int64> = -999_999_999_999_999...9_999_999_999_999_999

extension JSONObject {
  /// Reads a time in epoch milliseconds, written as a number or as a text.
  func instant(_ name: String) throws(JSONShapeError) -> Instant {
    let number = self[name]?.int64 ?? self[name]?.string.flatMap { Int64($0) }
    guard let number, readableTimes.contains(number) else {
      throw JSONShapeError(
        name: name, expected: "epoch milliseconds", isMissing: self[name] == nil)
    }
    return Instant(milliseconds: number)
  }

  /// Reads a time in epoch milliseconds, or `nil` if it is missing or null.
  func optionalInstant(_ name: String) throws(JSONShapeError) -> Instant? {
    guard let value = self[name], !value.isNull else { return nil }
    return try instant(name)
  }

  func optionalInt(_ name: String) throws(JSONShapeError) -> Int? {
    try optionalInt64(name).map(Int.init)
  }
}
