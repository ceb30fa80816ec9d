public import RegentPairing

/// A registration code for the app to show.
///
/// The viewer enters it on a phone and so signs this device in.
public struct RegistrationOffer: Hashable, Sendable {
  /// The registration code without its dash.
  public var code: String
  /// The code as people read it: `XXXX-XXXX`.
  public var display: String
  /// The URL of the page where the viewer types the code.
  public var url: String
  /// The URL for the QR code.
  ///
  /// It includes the registration code.
  public var urlComplete: String
  /// When the registration code expires.
  public var expires: Instant
  /// The provider that the viewer chose on this device; nil if the viewer chooses on the phone.
  public var provider: MVPD?
  /// The URL of the service that issued the code.
  public var service: String

  public init(
    code: String, display: String, url: String, urlComplete: String, expires: Instant,
    provider: MVPD?, service: String
  ) {
    self.code = code
    self.display = display
    self.url = url
    self.urlComplete = urlComplete
    self.expires = expires
    self.provider = provider
    self.service = service
  }
}
