internal import RegentEncodings
public import RegentPairing

/// The record of a registration code: what a device gets when it creates or reads one.
public struct RegcodeDocument: WireDocument, Hashable {
  /// `<ns2:regcode>` with unprefixed children.
  public static let root = XMLRoot(
    "ns2:regcode", declaration: #"xmlns:ns2="model.mvc.reggie.pass.adobe.com""#)

  /// The record's id.
  public var id: String
  /// The code, eight letters.
  public var code: String
  /// Whose app.
  public var requestor: String
  /// The provider that was chosen on the device.
  public var provider: String?
  /// When it was made.
  public var generated: Instant
  /// When it ends.
  public var expires: Instant
  /// What the device said of itself.
  public var info: RegcodeInfo
  /// Where the code is in its life.
  public var status: PairingStatus
  /// Grows with every change.
  public var sequence: Int
  /// The number to show, while a phone is connected and number matching was asked for.
  public var match: Int?
  /// Where to type the code.
  public var verificationURL: String
  /// Where a scanned code leads.
  public var verificationURLComplete: String

  /// A record with all it says.
  public init(
    id: String, code: String, requestor: String, provider: String? = nil, generated: Instant,
    expires: Instant, info: RegcodeInfo, status: PairingStatus, sequence: Int, match: Int? = nil,
    verificationURL: String, verificationURLComplete: String
  ) {
    self.id = id
    self.code = code
    self.requestor = requestor
    self.provider = provider
    self.generated = generated
    self.expires = expires
    self.info = info
    self.status = status
    self.sequence = sequence
    self.match = match
    self.verificationURL = verificationURL
    self.verificationURLComplete = verificationURLComplete
  }

  /// Writes the documented members, then ours.
  public func write(to sink: inout some DocumentSink) {
    sink.text("id", id)
    sink.text("code", code)
    sink.text("requestor", requestor)
    sink.text("mvpd", ifKnown: provider)
    sink.number("generated", generated.milliseconds)
    sink.number("expires", expires.milliseconds)
    sink.object("info") { info.write(to: &$0) }
    sink.text("state", status.rawValue)
    sink.number("sequence", Int64(sequence))
    if let match { sink.number("match", Int64(match)) }
    sink.text("verificationURL", verificationURL)
    sink.text("verificationURLComplete", verificationURLComplete)
  }
}

/// The `info` of a registration code's record.
///
/// Two forms are documented. The older one has the deprecated parameters, each `null` when it was not sent; it is
/// written, with what is known besides, for clients that sent any of them. The current one has the device information.
public struct RegcodeInfo: Hashable, Sendable {
  /// The application behind a registered client.
  public struct Application: Hashable, Sendable {
    public var id: String
    public var name: String
    public var version: String

    public init(id: String, name: String, version: String) {
      self.id = id
      self.name = name
      self.version = version
    }
  }

  /// The device id as it was sent; written in base64, empty for everybody but the device itself.
  public var deviceID: String
  /// The normalised device information, as JSON text; written in base64.
  public var deviceInformation: String?
  /// The User-Agent of the device.
  public var userAgent: String?
  /// The User-Agent of the call, when a server made it for the device.
  public var originalUserAgent: String?
  /// How the call was authenticated: `OAUTH2` for registered clients.
  public var authorizationType: String?
  /// The application behind a registered client.
  public var application: Application?
  /// The deprecated parameters: none of them was sent by most.
  public var older: OlderDeviceFields
  /// What the app gave with the sign-in, as JSON text; for nobody but the device itself.
  public var data: String?

  /// What the device said of itself.
  public init(
    deviceID: String, deviceInformation: String? = nil, userAgent: String? = nil,
    originalUserAgent: String? = nil, authorizationType: String? = nil,
    application: Application? = nil, older: OlderDeviceFields = OlderDeviceFields(), data: String? = nil
  ) {
    self.deviceID = deviceID
    self.deviceInformation = deviceInformation
    self.userAgent = userAgent
    self.originalUserAgent = originalUserAgent
    self.authorizationType = authorizationType
    self.application = application
    self.older = older
    self.data = data
  }

  func write(to sink: inout some DocumentSink) {
    sink.text("deviceId", Base64.encode(deviceID.utf8.span))
    if !older.isEmpty {
      sink.text("deviceType", orNull: older.deviceType)
      sink.text("deviceUser", orNull: older.deviceUser)
      sink.text("appId", orNull: older.appID)
      sink.text("appVersion", orNull: older.appVersion)
      sink.text("registrationURL", orNull: older.registrationURL)
    }
    sink.text("deviceInfo", ifKnown: deviceInformation.map { Base64.encode($0.utf8.span) })
    sink.text("userAgent", ifKnown: userAgent)
    sink.text("originalUserAgent", ifKnown: originalUserAgent)
    sink.text("authorizationType", ifKnown: authorizationType)
    if let application {
      sink.object("sourceApplicationInformation") {
        $0.text("id", application.id)
        $0.text("name", application.name)
        $0.text("version", application.version)
      }
    }
    sink.text("genericData", ifKnown: data)
  }
}
