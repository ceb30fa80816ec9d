public import RegentJSON
public import RegentPairing

/// The box's word for one profile request: "the viewer is signed in on this box there, and lets this app use it".
///
/// Signed with the box's key (EdDSA, `kid` is the box) and posted as `SAMLResponse`. It is about one request, which
/// names requestor, device and provider, and about one sign-in of the box, which the box's name stands for.
public struct PlatformAssertion: Hashable, Sendable {
  /// The kind of signed text that it is: no other text that the same key might sign is taken for it.
  public static let type = "platform-assertion+jwt"
  /// How long it counts.
  public static let lifetime: Duration = .seconds(60)
  /// The longest that is read, in bytes.
  public static let longest = 8192

  /// What the service called the box when it took its key.
  public let box: String
  /// The service: what the request named as its issuer.
  public let audience: String
  /// The request itself, as the app handed it over: what it is about is read from there, and nowhere else.
  public let request: String
  public let provider: ProviderID
  /// The app, by the name that the box's owner gave it.
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

  /// The time to write into an assertion: the box's clock, unless that contradicts the request that was made just now.
  ///
  /// A box that has no clock yet makes one all the same, and one whose clock is ahead makes none that counts later. Who
  /// answers an old request writes its time as well, and has to ask for a new one.
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

  /// Whether it counts at this time: not older than its lifetime, and no further ahead than clocks differ.
  public func isFresh(at now: Instant) -> Bool {
    let age = now.since(issued)
    return age <= Self.lifetime && age >= .zero - Self.lifetime
  }
}

/// The names of apps, which the box's owner gives and the viewer reads.
public enum PlatformApp {
  /// 1 to 64 letters, digits, dots, dashes and underscores of ASCII, no dot or dash first.
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
