/// An app publisher whose apps run on the boxes, with the settings for them.
public struct Requestor: Hashable, Sendable {
  public let id: RequestorID
  /// The name that viewers read.
  public var name: String
  /// The domains of the publisher's own pages.
  ///
  /// Browsers may be redirected to addresses there.
  public var domains: [String]
  /// The exact addresses to which a browser may be redirected.
  public var redirectURIs: [String]
  /// The URL of the publisher's logo.
  public var logo: String?
  /// The colour of the phone pages for this publisher, as `#RRGGBB`.
  public var color: String?
  /// Where viewers get help when they cannot sign in, as the operator wrote it: a telephone number or an address.
  public var contact: String?
  /// The certificate, as PEM, whose public key encrypts the user metadata that its apps read.
  public var certificate: String?
  public var signaturePolicy: SignaturePolicy
  /// Whether error responses contain the protocol's enhanced error codes.
  public var enhancedErrors: Bool
  /// Whether viewers must type a number that the box shows, for each code (``NumberMatch``).
  public var numberMatching: Bool
  public var exposesDeviceID: Bool
  /// The viewer attributes that its apps may read.
  public var metadataKeys: Set<MetadataKey>
  /// Whether this requestor belongs to the maker of the box.
  ///
  /// Its sign-in on a box is the account that the box's apps may share (the platform account).
  public var isPlatform: Bool
  /// Which programs may register themselves as its clients (RFC 7591).
  public var registration: ClientRegistration

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
  /// No program may register itself; an operator creates the clients.
  case closed
  /// Programs that present a software statement of the requestor may register themselves.
  case statement
  /// Any program may register itself.
  case open
}
