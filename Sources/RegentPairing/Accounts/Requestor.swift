/// A programmer's identity: whose app runs on the device, and how it wants to be treated.
public struct Requestor: Hashable, Sendable {
  public let id: RequestorID
  /// What viewers read.
  public var name: String
  /// The domains its pages may live on.
  public var domains: [String]
  /// Exact addresses that a browser may be sent back to.
  public var redirectURIs: [String]
  /// Where its logo is.
  public var logo: String?
  /// Its colour, as `#RRGGBB`.
  public var color: String?
  /// Whom viewers ask who cannot sign in, in words of the operator: a telephone number, an address.
  public var contact: String?
  /// The certificate with which attributes are encrypted, as PEM.
  public var certificate: String?
  /// How strictly signed calls are checked.
  public var signaturePolicy: SignaturePolicy
  /// Whether errors come with enhanced codes.
  public var enhancedErrors: Bool
  /// Whether every code asks for number matching.
  public var numberMatching: Bool
  /// Whether apps may read the device id.
  public var exposesDeviceID: Bool
  /// The attributes it may be given.
  public var metadataKeys: Set<MetadataKey>
  /// Whether it is the box maker's: its sign-in on a box is the box's platform account.
  public var isPlatform: Bool
  /// Which programs may register themselves as its clients.
  public var registration: ClientRegistration

  /// A requestor; what is not said has the usual value.
  public init(
    id: RequestorID, name: String, domains: [String] = [], redirectURIs: [String] = [],
    logo: String? = nil, color: String? = nil, contact: String? = nil, certificate: String? = nil,
    signaturePolicy: SignaturePolicy = .standard, enhancedErrors: Bool = false,
    numberMatching: Bool = false, exposesDeviceID: Bool = false,
    metadataKeys: Set<MetadataKey> = [], isPlatform: Bool = false,
    registration: ClientRegistration = .statement
  ) {
    self.id = id
    self.name = name
    self.domains = domains
    self.redirectURIs = redirectURIs
    self.logo = logo
    self.color = color
    self.contact = contact
    self.certificate = certificate
    self.signaturePolicy = signaturePolicy
    self.enhancedErrors = enhancedErrors
    self.numberMatching = numberMatching
    self.exposesDeviceID = exposesDeviceID
    self.metadataKeys = metadataKeys
    self.isPlatform = isPlatform
    self.registration = registration
  }
}

/// Which programs may register themselves as a requestor's clients (RFC 7591).
public enum ClientRegistration: String, Hashable, Sendable, CaseIterable {
  /// None: an operator adds them.
  case closed
  /// Those that show a software statement of the requestor.
  case statement
  /// Every program.
  case open
}
