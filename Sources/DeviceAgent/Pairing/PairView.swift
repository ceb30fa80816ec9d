import RegentHTTPClient

/// A registration code as the screen shows it; its address was checked before this value was made.
struct ShownCode: Sendable, Equatable {
  /// The wire form, without dash.
  let code: String
  /// The form for people: `XXXX-XXXX`.
  let display: String
  /// Where to type it, as people type addresses.
  let address: String
  /// What the QR code says.
  let link: String
  /// When it ends for the clocks of people, in epoch milliseconds.
  let expires: Int64
  /// When it ends on the clock that never jumps, in milliseconds since boot.
  let deadline: Int64
  /// How long it lived when it was made, in milliseconds.
  let lifetime: Int64

  /// A code with its checked address.
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

  /// How much of its life is left: 0 to 1.
  func fractionLeft(at now: Int64) -> Double {
    min(1, Double(millisecondsLeft(at: now)) / Double(lifetime))
  }

  func millisecondsLeft(at now: Int64) -> Int64 { max(0, deadline - now) }
}

/// Something that keeps the box from going on, in words that its viewer can use.
enum PairingObstacle: Sendable, Equatable {
  /// The service cannot be reached.
  case offline(host: String)
  /// Good certificates look expired or not yet valid: the clock is wrong.
  case clock
  /// The service's certificate or the TLS handshake.
  case certificate(ClientError.TLSFault)
  /// Something else answered in the service's place.
  case portal
  /// The service is reached and refuses the box.
  case refused
  /// The service named an address that is not its own.
  case foreignAddress
  /// The service is busy, and may say for how long.
  case busy(seconds: Int64? = nil)
  /// The service failed.
  case service
  /// The disk takes nothing: a sign-in would be forgotten.
  case storage
  /// The same, because it is mounted so.
  case readOnly
}

extension PairingObstacle {
  /// Whether there is nothing new to tell: a busy service may name another time with each answer.
  func isSameKind(as other: PairingObstacle) -> Bool {
    if case (.busy, .busy) = (self, other) { true } else { self == other }
  }
}

/// What the box is doing.
enum PairStage: Sendable, Equatable {
  /// A code is being asked for.
  case starting
  /// Somebody chooses a provider.
  case choosing(ProviderPicker)
  /// The code is shown, nobody has opened it.
  case waiting(ShownCode)
  /// A phone has the code open.
  case connected(ShownCode)
  /// The phone asks for this number.
  case number(ShownCode, Int)
  /// The box is signed in.
  case signedIn(name: String?, provider: String?)
  /// Refused on the phone.
  case denied
  /// Refused while the phone asked for the number: the service does not say whether the wrong one was picked.
  case deniedAtNumber
  /// Time ran out.
  case expired
  /// The hour's codes are used up; a key or a signal brings a new one.
  case resting
  /// Nothing can be shown until this is mended, perhaps so.
  case failed(PairingObstacle, hint: String? = nil)

  /// The code that is on the screen.
  var code: ShownCode? {
    switch self {
    case .waiting(let code), .connected(let code), .number(let code, _): code
    case .starting, .choosing, .signedIn, .denied, .deniedAtNumber, .expired, .resting, .failed: nil
    }
  }
}

/// Where the QR code goes.
enum PictureMode: Sendable, Equatable {
  /// Drawn with characters.
  case characters
  /// Drawn over the middle of the screen, behind the terminal's back.
  case framebuffer
  /// Written to a file.
  case file(String)
  /// Nowhere.
  case none
}

/// Everything that the screen shows.
struct PairView: Sendable, Equatable {
  /// What the screen says of itself when nobody gave it a name.
  static let usualProduct = "Regent"

  /// What this is: the product's name.
  var product = Self.usualProduct
  /// What the box is doing.
  var stage = PairStage.starting
  /// What is in its way meanwhile.
  var trouble: PairingObstacle?
  /// Whether keys can be pressed.
  var hasKeys = true
  /// Whether there is a provider to choose.
  var canChooseProvider = false
  /// Where the QR code goes.
  var picture = PictureMode.characters

  /// The first view: asking for a code.
  init() {}
}
