public import RegentPairing

/// What a device says of itself and where it was seen: text from a stranger, to be escaped wherever it is shown.
public struct DeviceDescription: Hashable, Sendable {
  /// What the second screen calls it: manufacturer and model, or what the User-Agent gives away.
  public var name: String?
  /// The device information as normalised JSON: echoed in the code's record.
  public var information: String?
  /// The User-Agent of the call.
  public var userAgent: String?
  /// The network address of the call.
  public var address: String?
  /// A visitor id of the app's analytics.
  public var visitorID: String?
  /// What older clients send, echoed as it came.
  public var older: OlderDeviceFields
  /// What the app gave with the call that began to sign in, as a JSON object.
  public var data: String?
  /// The app's options that the service has no use for, as a JSON object.
  public var options: String?
  /// What the program asked for, when it asked in OAuth's words.
  public var asked: AskedByClient?
  /// Who signed the call, see ``SignInOwner``; none in rows of version 0.1.0 and of OAuth.
  public var owner: String?

  /// A description; what is not said is not known.
  public init(
    name: String? = nil, information: String? = nil, userAgent: String? = nil,
    address: String? = nil, visitorID: String? = nil,
    older: OlderDeviceFields = OlderDeviceFields(), data: String? = nil, options: String? = nil,
    asked: AskedByClient? = nil, owner: String? = nil
  ) {
    self.name = name
    self.information = information
    self.userAgent = userAgent
    self.address = address
    self.visitorID = visitorID
    self.older = older
    self.data = data
    self.options = options
    self.asked = asked
    self.owner = owner
  }
}

/// What a program asked for with its code: what it must show, and may have, when it redeems it.
public struct AskedByClient: Hashable, Sendable {
  public let client: ClientID
  /// What it is to be given.
  public let scope: String
  /// The hash of what it must know then (RFC 7636); none when it did not say.
  public let challenge: String?
  /// The key that it must have then; none when it showed none.
  public let thumbprint: String?
  /// The secret that it must show with each question, as it was when the code was made: asking costs no disk.
  public let secret: TokenHash?
  /// The same for a client that signs: its public keys, as a JSON Web Key set; empty when there was no room for them.
  public let keys: String?
  /// Whether nobody but itself says what it is called.
  public let isSelfNamed: Bool
  /// Whether an operator made it; a statement lies in every copy of its app, and whoever has the app registers with it.
  public let isOperators: Bool

  public init(
    client: ClientID, scope: String, challenge: String?, thumbprint: String?, secret: TokenHash?, keys: String?,
    isSelfNamed: Bool, isOperators: Bool
  ) {
    self.client = client
    self.scope = scope
    self.challenge = challenge
    self.thumbprint = thumbprint
    self.secret = secret
    self.keys = keys
    self.isSelfNamed = isSelfNamed
    self.isOperators = isOperators
  }
}

extension DeviceDescription {
  /// The bytes of all its texts: what a stranger can make a code weigh.
  public var size: Int {
    [
      name, information, userAgent, address, visitorID, older.deviceType, older.deviceUser,
      older.appID, older.appVersion, older.registrationURL, data, options, asked?.scope, asked?.keys,
    ].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
  }
}
