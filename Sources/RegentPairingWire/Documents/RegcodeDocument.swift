internal import RegentEncodings
public import RegentPairing

/// The record of a registration code, which a device gets when it creates or reads the code.
public struct RegcodeDocument: WireDocument, Hashable {
  /// The root element `<ns2:regcode>`.
  ///
  /// Its child elements have no prefix.
  public static let root = XMLRoot(
    "ns2:regcode", declaration: #"xmlns:ns2="model.mvc.reggie.pass.adobe.com""#)

  public var id: String
  /// The registration code, without separators.
  public var code: String
  public var requestor: String
  /// The provider that the viewer chose on the device, if any.
  public var provider: String?
  /// The time at which the code was created.
  public var generated: Instant
  /// The time at which the code expires.
  public var expires: Instant
  /// What the device reported about itself.
  public var info: RegcodeInfo
  /// The state of the code (an extension of Regent).
  public var status: PairingStatus
  /// A number that grows with each change of the code's state.
  ///
  /// Clients send it when they long-poll.
  public var sequence: Int
  /// The two-digit number that the device must show: present while a phone has the code's page open, if the device
  /// asked for number matching.
  public var match: Int?
  /// The URL at which the viewer types the code.
  public var verificationURL: String
  /// The URL in the QR code that the device shows.
  public var verificationURLComplete: String

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

  /// Writes the members that the protocol documents, then Regent's extensions.
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
/// The protocol documents two forms. The older form has the deprecated parameters, each `null` if the client did not
/// send it. The older form is used when the client sent at least one of them. The current form has the device
/// information.
public struct RegcodeInfo: Hashable, Sendable {
  /// The application of a registered client.
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

  /// The device id as the device sent it.
  ///
  /// It is written in base64, and is empty unless the device itself reads the record.
  public var deviceID: String
  /// The normalized device information as JSON text, which is written in base64.
  public var deviceInformation: String?
  /// The User-Agent of the device.
  public var userAgent: String?
  /// The User-Agent of the request, which a server may have sent for the device.
  public var originalUserAgent: String?
  /// How the device's request was authenticated: `OAUTH2` for registered clients.
  public var authorizationType: String?
  /// The application of the registered client that requested the code.
  public var application: Application?
  /// The deprecated parameters of the registration request.
  ///
  /// Most clients send none of them.
  public var older: OlderDeviceFields
  /// The `data` that the app passed to the sign-in, as JSON text.
  ///
  /// Only the device itself can read it.
  public var data: String?

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
