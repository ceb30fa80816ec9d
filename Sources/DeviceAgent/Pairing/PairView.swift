import RegentHTTPClient

/// A registration code for the screen.
///
/// ``AddressCheck`` has accepted the code's address before this value is created.
struct ShownCode: Sendable, Equatable {
  /// The code in wire form, without a dash.
  let code: String
  /// The code as people read it: `XXXX-XXXX`.
  let display: String
  /// The address that the viewer types on the phone, without `https://`.
  let address: String
  /// The text of the QR code.
  let link: String
  /// When the code expires on the wall clock, in epoch milliseconds.
  let expires: Int64
  /// When the code expires on the boot clock, which never jumps, in milliseconds since boot.
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

  /// The fraction of the code's lifetime that is left, from 0 to 1.
  func fractionLeft(at now: Int64) -> Double {
    min(1, Double(millisecondsLeft(at: now)) / Double(lifetime))
  }

  /// Whether a phone on mobile data cannot open the link.
  var needsSameNetwork: Bool { AddressCheck.isOfLocalNetwork(link) }

  func millisecondsLeft(at now: Int64) -> Int64 { max(0, deadline - now) }
}

/// A problem that prevents the sign-in, in terms that the viewer understands.
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
  /// The service sent an address of a host that is not one of its own.
  case foreignAddress
  /// The service is busy, and may say how long to wait.
  case busy(seconds: Int64? = nil)
  /// The service reported an error other than these.
  case service
  /// The disk is full, so a sign-in could not be stored.
  case storage
  /// The disk is mounted read-only, so a sign-in could not be stored.
  case readOnly
  /// An operator has disabled the account with which the box was signed in.
  case accountDisabled
}

extension PairingObstacle {
  /// Whether both are the same problem, so that it need not be reported again.
  ///
  /// A busy service may ask for another pause with each response.
  func isSameKind(as other: PairingObstacle) -> Bool {
    if case (.busy, .busy) = (self, other) { true } else { self == other }
  }
}

/// The stage of the sign-in that the screen shows.
enum PairStage: Sendable, Equatable {
  /// A code was requested, and the service has not answered yet.
  case starting
  /// The viewer chooses a provider.
  case choosing(ProviderPicker)
  /// The code is shown, and no phone has opened it.
  case waiting(ShownCode)
  /// A phone has opened the page of the code.
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
  /// The registration code on the screen has expired.
  case expired
  /// The program has requested as many codes automatically as it may in an hour. A key or a signal requests a new one.
  case resting
  /// An error that must be fixed before a sign-in is possible. The hint may say how.
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
  /// The QR code is drawn with characters.
  case characters
  /// The QR code is drawn with pixels over the middle of the screen, in the framebuffer.
  case framebuffer
  /// The QR code is written into an image file.
  case file(String)
  /// The QR code is not drawn.
  case none
}

/// Everything that the screen shows.
struct PairView: Sendable, Equatable {
  /// The product name that the screen shows when the command names none.
  static let usualProduct = "Regent"

  var product = Self.usualProduct
  var stage = PairStage.starting
  /// A problem that the screen shows in addition to the stage.
  var trouble: PairingObstacle?
  /// Whether an operator has disabled the account with which the box was signed in.
  var isAccountDisabled = false
  /// Whether the viewer can press keys.
  var hasKeys = true
  /// Whether the service has more than one provider, so that the viewer can choose.
  var canChooseProvider = false
  var picture = PictureMode.characters

  init() {}
}
