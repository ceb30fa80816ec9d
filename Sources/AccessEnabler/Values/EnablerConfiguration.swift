public import RegentCryptography
public import RegentHTTPClient
public import RegentPairingWire
import RegentPlatform

/// Who the app is to the service.
@nonexhaustive
public enum Credentials: Sendable {
  /// A software statement: the enabler registers itself with it and renews its access tokens.
  case softwareStatement(Secret)
  /// A key pair: every call is signed.
  case keyPair(publicKey: String, secret: Secret, method: CallSignature = .hmacSHA256)
}

extension Credentials {
  /// A software statement that the app holds as text.
  public static func softwareStatement(_ statement: String) -> Credentials {
    .softwareStatement(Secret(statement))
  }

  /// A key pair whose secret the app holds as text.
  public static func keyPair(
    publicKey: String, secret: String, method: CallSignature = .hmacSHA256
  ) -> Credentials {
    .keyPair(publicKey: publicKey, secret: Secret(secret), method: method)
  }
}

/// How calls are signed with a key pair.
@nonexhaustive
public enum CallSignature: Hashable, Sendable {
  /// What Regent's services understand, and the default.
  case hmacSHA256
  /// The historic method, for services that know no other.
  case hmacSHA1
}

/// How viewers sign in.
@nonexhaustive
public enum LoginMethod: Hashable, Sendable {
  /// On a phone, with a registration code: boxes without a browser.
  case secondScreen
  /// In a browser on this device, which comes back to a loopback URL or a URL with the app's own scheme.
  case browser(redirectURL: String)
}

/// Where tokens are kept between runs, each requestor's for itself.
///
/// A service may move to another address without a new sign-in. An app that signs in at two services for one requestor
/// keeps two folders.
@nonexhaustive
public enum TokenStorage: Hashable, Sendable {
  /// In a folder of mode 0700 of this user's; it is created when missing. Several processes may share it.
  case folder(String)
  /// Nowhere: tokens end with the process.
  case memory

  /// A folder of this program's in the user's state directory (`XDG_STATE_HOME`, else `~/.local/state`); for a user
  /// without a home, memory.
  public static var usual: TokenStorage {
    let variables = ProcessEnvironment.all()
    let base = variables["XDG_STATE_HOME"] ?? variables["HOME"].map { "\($0)/.local/state" }
    let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "app"
    guard let base, base.hasPrefix("/") else { return .memory }
    return .folder("\(base)/\(program)/access-enabler")
  }
}

/// Where the box's platform account is asked: the daemon's socket.
@nonexhaustive
public enum PlatformAccountPlace: Hashable, Sendable {
  /// `REGENT_AGENT_SOCKET`, else this user's own daemon, else the machine's.
  case usual
  /// That socket alone. With `agentUser` only that user, root and this process's own user may listen there; without it,
  /// the owner of the socket's folder, else the user `regent`.
  case socket(String, agentUser: String? = nil)
  /// Nowhere: the app signs in by itself.
  case none
}

/// How long things may take.
public struct EnablerTiming: Hashable, Sendable {
  /// How long one service may take to answer the configuration call; slower ones are left out.
  ///
  /// A dead name server costs five seconds before the next is asked, and TLS over a slow satellite link eight.
  public var configuration = Duration.seconds(12)
  /// How long the others are waited for once one of several services has answered `setRequestor`.
  public var straggler = Duration.seconds(2)
  /// How long any other call may take.
  public var call = Duration.seconds(30)
  /// How long the app waits for the service to know of a sign-out; this device is signed out before.
  ///
  /// A service that does not answer is told at the next `setRequestor`.
  public var logout = Duration.milliseconds(1_800)
  /// How long one wait for the phone is asked to last, in whole seconds; services grant at most 55.
  public var wait = 50
  /// The pause between two polls of a service that does not know how to wait.
  public var poll = Duration.seconds(5)
  /// How long the box's daemon may take to say how an app stands.
  public var platform = Duration.seconds(1)
  /// How long the app may take to answer `presentTvProviderDialog`; the dialog then counts as cancelled.
  public var dialog = Duration.seconds(300)
  /// How long a service may be away, as in a restart or a fail-over, before the app is told: in the middle of a wait,
  /// and when a call that may be repeated meets it.
  public var silence = Duration.seconds(6)
  /// The longest pause after failures.
  public var longestPause = Duration.seconds(60)

  /// The usual times.
  public init() {}

  /// How long the daemon may take: what it knows it says at once; a code comes from a service, news are waited for.
  func platform(_ question: PlatformQuestion) -> Duration {
    switch question {
    case .status, .assertion, .picker, .leave: platform
    case .access(_, let wait), .signOut(let wait): platform + .seconds(wait)
    case .signIn: call
    case .news: .seconds(PlatformLink.hold) + call
    }
  }
}

/// What an enabler needs to know once.
public struct EnablerConfiguration: Sendable {
  /// Who the app is; nothing only for services that ask for nothing.
  public var credentials: Credentials?
  /// The services to ask when `setRequestor` names none; when this is empty, too, those of `REGENT_SERVICE` or of the
  /// box's `agent.conf`.
  public var services: [String]
  /// Where tokens are kept.
  public var storage: TokenStorage
  /// How viewers sign in.
  public var login = LoginMethod.secondScreen
  /// Where a secure browser sheet comes back to, usually a URL with the app's own scheme; without it the redirect URL
  /// of ``login``.
  public var sheetRedirectURL: String?
  /// The program that shows a page, and its arguments before the page's address: `["xdg-open"]`.
  ///
  /// With it the enabler presents the pages of providers that want the secure sheet itself, unless the app said that it
  /// does (`handleSVC`). Without it every page comes by `navigateToUrl`.
  public var browser: [String] = []
  /// Whether to ask for number matching: the screen shows a number that the viewer types on the phone.
  public var numberMatching = false
  /// How long a registration code is to live, in whole seconds; nothing leaves it to the service.
  public var codeLifetime: Duration?
  /// What the device says of itself; what is missing is found out from the system.
  public var device = DeviceInformation()
  /// The programmer's private RSA key: with it the enabler decrypts encrypted metadata itself.
  public var metadataKey: RSADecryptionKey?
  /// Whether `METADATA_DEVICE_ID` is answered, even if no service says that the requestor's apps may read it.
  public var exposesDeviceID = false
  /// Where the box's platform account is asked.
  public var platformAccount = PlatformAccountPlace.usual
  /// How long things may take.
  public var timing = EnablerTiming()
  /// Which certificate authorities are trusted.
  public var authorities = CertificateAuthorities.system
  /// When the app was built, in epoch milliseconds: no clock that is right says less.
  public var buildTime: Int64 = 0
  /// Called when an address, a route, the name servers or the clock of this device changed.
  ///
  /// A call that failed may succeed now. It comes on a thread of the enabler's. A code that is shown is asked about at
  /// once without it.
  public var onNetworkChange: (@Sendable () -> Void)?
  /// The wall clock in epoch milliseconds.
  public var wallClock: @Sendable () -> Int64 = { Clocks.wallMilliseconds() }
  /// The file that tells one machine from another; a token store that was copied elsewhere is noticed by it.
  public var machineIDFile = "/etc/machine-id"

  /// A configuration.
  ///
  /// - Parameters:
  ///   - credentials: who the app is.
  ///   - services: the services to ask when `setRequestor` names none, for example `https://pair.example`.
  ///   - storage: where tokens are kept.
  public init(
    credentials: Credentials? = nil, services: [String] = [], storage: TokenStorage
  ) {
    self.credentials = credentials
    self.services = services
    self.storage = storage
  }
}
