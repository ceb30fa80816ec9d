import RegentHTTPClient

/// A registration code for the screen.
///
/// ``AddressCheck`` has accepted its address before this value is created.
struct ShownCode: Sendable, Equatable {
  /// The code in wire form, without a dash.
  let code: String
  /// The code for people: `XXXX-XXXX`.
  let display: String
  /// The address to type, without `https://`.
  let address: String
  /// The text of the QR code.
  let link: String
  /// The expiry on the wall clock, in epoch milliseconds.
  let expires: Int64
  /// The expiry on the boot clock, which never jumps, in milliseconds since boot.
  let deadline: Int64
  /// The lifetime of the code when it was created, in milliseconds.
  let lifetime: Int64

  init(
    code: String, display: String, address: String, link: String, expires: Int64, deadline: Int64,
    lifetime: Int64
  ) {
    self.code = code
    self.display = display
    self.address = address
    self.link = link
    self.expires = expires
    self.deadline = deadline
    self.lifetime = max(1, lifetime)
  }

  /// The fraction of the lifetime that is left, from 0 to 1.
  func fractionLeft(at now: Int64) -> Double {
    min(1, Double(millisecondsLeft(at: now)) / Double(lifetime))
  }

  /// Whether a phone on mobile data cannot open the link.
  var needsSameNetwork: Bool { AddressCheck.isOfLocalNetwork(link) }

  func millisecondsLeft(at now: Int64) -> Int64 { max(0, deadline - now) }
}

/// A problem that prevents the sign-in, in the terms of the viewer.
enum PairingObstacle: Sendable, Equatable {
  case offline(host: String)
  /// The box's clock is wrong: valid certificates look expired or not yet valid.
  case clock
  /// The service's certificate or the TLS handshake failed.
  case certificate(ClientError.TLSFault)
  /// Another server answered in place of the service, such as a captive portal.
  case portal
  /// The service refuses the box's credentials.
  case refused
  /// The service sent an address that is not its own.
  case foreignAddress
  /// The service is busy, and may say how long to wait.
  case busy(seconds: Int64? = nil)
  /// The service reported an error.
  case service
  /// The disk is full, so a sign-in could not be stored.
  case storage
  /// The disk is mounted read-only, so a sign-in could not be stored.
  case readOnly
}

extension PairingObstacle {
  /// Whether the problem is the same, so that it need not be reported again.
  ///
  /// A busy service may name another time with each response.
  func isSameKind(as other: PairingObstacle) -> Bool {
    if case (.busy, .busy) = (self, other) { true } else { self == other }
  }
}

/// What the screen currently shows.
enum PairStage: Sendable, Equatable {
  /// A code was requested.
  case starting
  /// The viewer chooses a provider.
  case choosing(ProviderPicker)
  /// The code is shown, and no phone has opened it.
  case waiting(ShownCode)
  /// A phone has opened the code.
  case connected(ShownCode)
  /// The viewer must type this number on the phone.
  case number(ShownCode, Int)
  case signedIn(name: String?, provider: String?)
  /// The viewer denied the code on the phone.
  case denied
  /// The code was denied while the phone asked for the number.
  ///
  /// The service does not say whether the number was wrong.
  case deniedAtNumber
  /// The code expired.
  case expired
  /// The automatic codes of this hour are used up.
  ///
  /// A key or a signal requests a new one.
  case resting
  /// An error that must be fixed first.
  ///
  /// The hint may say how.
  case failed(PairingObstacle, hint: String? = nil)

  /// The code on the screen, if any.
  var code: ShownCode? {
    switch self {
    case .waiting(let code), .connected(let code), .number(let code, _): code
    case .starting, .choosing, .signedIn, .denied, .deniedAtNumber, .expired, .resting, .failed: nil
    }
  }
}

/// How the QR code is drawn.
enum PictureMode: Sendable, Equatable {
  /// With characters.
  case characters
  /// With pixels over the middle of the screen, in the framebuffer.
  case framebuffer
  /// Into an image file.
  case file(String)
  /// The QR code is not drawn.
  case none
}

/// Everything that the screen shows.
struct PairView: Sendable, Equatable {
  /// The product name when the command names none.
  static let usualProduct = "Regent"

  var product = Self.usualProduct
  var stage = PairStage.starting
  /// A problem that is shown beside the stage.
  var trouble: PairingObstacle?
  /// Whether the viewer can press keys.
  var hasKeys = true
  /// Whether there is more than one provider.
  var canChooseProvider = false
  var picture = PictureMode.characters

  init() {}
}
