public import RegentJSON
public import RegentPairing

/// A box's signed answer to one profile request (the service's challenge): "the viewer is signed in on this box with
/// this provider, and lets this app use the sign-in".
///
/// The assertion is signed with the box's key (EdDSA, the `kid` is the box's id) and posted as `SAMLResponse`. The
/// assertion is valid for one profile request, which names the requestor, the device and the provider. It is valid for
/// one sign-in of the box, because the box gets a new id with each.
public struct PlatformAssertion: Hashable, Sendable {
  /// The JWT type of an assertion, so that no other text signed with the same key passes as one.
  public static let type = "platform-assertion+jwt"
  public static let lifetime: Duration = .seconds(60)
  /// The longest assertion that is parsed, in bytes.
  public static let longest = 8192

  /// The id that the service gave the box when it registered the box's key.
  public let box: String
  /// The service for which the assertion is meant: the issuer of the profile request.
  public let audience: String
  /// The profile request as the app passed it on.
  ///
  /// The service reads requestor and device only from there.
  public let request: String
  public let provider: ProviderID
  /// The app for which the assertion is made, by the name that the box's owner gave it.
  public let app: String
  public let issued: Instant

  public init(
    box: String, audience: String, request: String, provider: ProviderID, app: String, issued: Instant
  ) {
    self.box = box
    self.audience = audience
    self.request = request
    self.provider = provider
    self.app = app
    self.issued = issued
  }

  /// The issue time of an assertion: the time on the box's clock, or the time of the profile request if the clock is
  /// wrong.
  ///
  /// The service has just made the request, so a clock that shows an earlier or a much later time is wrong. A box whose
  /// clock is not set yet can thus make a valid assertion, and a box whose clock is ahead cannot make one that is valid
  /// later. An answer to an old request also gets the request's time and has expired already. The app must then get a
  /// new request.
  public static func issued(at clock: Instant, for request: ProfileRequest) -> Instant {
    let age = clock.since(request.issued)
    return age >= .zero && age <= lifetime ? clock : request.issued
  }

  public var claims: JSONObject {
    [
      "iss": .string(box), "aud": .string(audience), "request": .string(request), "mvpd": .string(provider.text),
      "app": .string(app), "issued": .integer(issued.milliseconds),
    ]
  }

  public init?(_ claims: JSONObject) {
    guard let box = claims["iss"]?.string, let audience = claims["aud"]?.string,
      let request = claims["request"]?.string, let provider = claims["mvpd"]?.string.flatMap({ ProviderID($0) }),
      let app = claims["app"]?.string, PlatformApp.isName(app), let issued = claims["issued"]?.int64
    else { return nil }
    self.init(
      box: box, audience: audience, request: request, provider: provider, app: app,
      issued: Instant(milliseconds: issued))
  }

  /// Whether the assertion is valid at this time: it is at most ``lifetime`` old, and at most as far in the future,
  /// because clocks differ.
  public func isFresh(at now: Instant) -> Bool {
    let age = now.since(issued)
    return age <= Self.lifetime && age >= .zero - Self.lifetime
  }
}

/// Rules for the names of a box's apps, which the box's owner chooses and viewers read.
public enum PlatformApp {
  /// Whether the text has 1 to 64 ASCII letters, digits, dots, dashes and underscores, and does not begin with a dot or
  /// dash.
  public static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 64, first != 0x2D, first != 0x2E else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
      default: false
      }
    }
  }
}
