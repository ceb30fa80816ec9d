public import RegentPairing

/// What a device reports about itself, and the address from which it sent its request.
///
/// The device is untrusted: escape this text wherever it is shown.
public struct DeviceDescription: Hashable, Sendable {
  /// The device's name on the phone's pages: manufacturer and model, or a name taken from the User-Agent header.
  public var name: String?
  /// The device information as normalised JSON, which responses about the code repeat.
  public var information: String?
  /// The User-Agent header of the device's request for a code or sign-in.
  public var userAgent: String?
  /// The network address of the device's request for a code or sign-in.
  public var address: String?
  /// The visitor id, an id that the analytics of the app uses for the viewer.
  public var visitorID: String?
  /// Deprecated parameters that older apps send; responses repeat them unchanged.
  public var older: OlderDeviceFields
  /// The JSON object that the app sent with the request that started the sign-in.
  public var data: String?
  /// App options that the service does not interpret, as a JSON object.
  public var options: String?
  /// The OAuth device-authorization request that made the code; nil for a code of another protocol.
  public var asked: AskedByClient?
  /// The name of the app or key pair that owns the sign-in (``SignInOwner/name``); nil in rows of version 0.1.0 and in
  /// rows of OAuth clients.
  public var owner: String?

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

/// What an OAuth client asked for when it requested a code.
///
/// The service checks these values when the client polls and when it redeems the code.
public struct AskedByClient: Hashable, Sendable {
  public let client: ClientID
  /// The scope that the client requested (RFC 6749 §3.3).
  public let scope: String
  /// The PKCE code challenge (RFC 7636), against which the client's verifier is checked; nil when the client sent none.
  public let challenge: String?
  /// The thumbprint of the DPoP key (RFC 9449) that the client must prove at the token endpoint; nil when its request
  /// for the code proved no key.
  public let thumbprint: String?
  /// The hash of the client's secret at the time of the request.
  ///
  /// It is copied here so that checking the secret on each poll needs no read from the store.
  public let secret: TokenHash?
  /// The public keys of a client that signs assertions, as a JSON Web Key set.
  ///
  /// They are copied here so that a poll needs no read from the store.
  ///
  /// Empty when the memory for descriptions of pending codes was short. Then each poll reads the keys from the store.
  public let keys: String?
  /// Whether the client chose its name itself, so that the phone's page must not present it as verified.
  public let isSelfNamed: Bool
  /// Whether an operator registered the client.
  ///
  /// False for a client that registered with an app's software statement: every copy of the app contains the statement,
  /// so anyone who has the app can use it.
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
  /// The maximum ``size`` of a description without ``data``, which has its own limit of 2 KiB.
  ///
  /// The SDK and the V1 clients that were seen send less than 1 KiB.
  public static let longest = 3_072

  /// Leaves out texts until the rest is not longer than ``longest``: first the app's options, then the deprecated
  /// parameters, then the device information.
  ///
  /// The viewer sees none of these; the others have at most 1 KiB together.
  public func shortened() -> DeviceDescription {
    var about = self
    if about.size > Self.longest { about.options = nil }
    if about.size > Self.longest { about.older = OlderDeviceFields() }
    if about.size > Self.longest { about.information = nil }
    return about
  }

  /// The total length of the texts of this description, in UTF-8 bytes.
  ///
  /// An untrusted device chooses the texts, so this is the memory that one pending code can cost.
  public var size: Int {
    [
      name, information, userAgent, address, visitorID, older.deviceType, older.deviceUser,
      older.appID, older.appVersion, older.registrationURL, data, options, asked?.scope, asked?.keys,
    ].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
  }
}
