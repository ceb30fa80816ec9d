public import RegentPairing

/// A registration code to show: somebody opens it on a phone and signs this device in.
public struct RegistrationOffer: Hashable, Sendable {
  /// The code without its dash, as the phone may send it.
  public var code: String
  /// The code for people: `XXXX-XXXX`.
  public var display: String
  /// Where to type it.
  public var url: String
  /// Where a scanned code (a QR symbol) leads.
  public var urlComplete: String
  /// When it ends.
  public var expires: Instant
  /// The provider that was chosen on this device; none when the viewer chooses on the phone.
  public var provider: MVPD?
  /// The address of the service that made it.
  public var service: String

  /// A code to show.
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
