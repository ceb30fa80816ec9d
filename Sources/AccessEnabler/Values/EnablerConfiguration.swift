public import RegentCryptography
public import RegentHTTPClient
public import RegentPairingWire
import RegentPlatform

/// The credentials with which an app authenticates to a service.
@nonexhaustive
public enum Credentials: Sendable {
  /// A software statement (RFC 7591).
  ///
  /// The enabler registers this app with the statement, and renews its access tokens.
  case softwareStatement(Secret)
  /// A key pair that signs each request.
  case keyPair(publicKey: String, secret: Secret, method: CallSignature = .hmacSHA256)
}

extension Credentials {
  /// Creates credentials from a software statement given as a string.
  public static func softwareStatement(_ statement: String) -> Credentials {
    .softwareStatement(Secret(statement))
  }

  /// Creates credentials from a key pair whose secret is given as a string.
  public static func keyPair(
    publicKey: String, secret: String, method: CallSignature = .hmacSHA256
  ) -> Credentials {
    .keyPair(publicKey: publicKey, secret: Secret(secret), method: method)
  }
}

/// The method with which a key pair signs requests.
@nonexhaustive
public enum CallSignature: Hashable, Sendable {
  /// HMAC-SHA-256, the default, which Regent's services accept.
  case hmacSHA256
  /// HMAC-SHA-1, for services that accept no newer method.
  case hmacSHA1
}

/// How viewers sign in: on a phone or in a browser on this device.
@nonexhaustive
public enum LoginMethod: Hashable, Sendable {
  /// Viewers sign in on a phone, with a registration code. For boxes without a browser.
  case secondScreen
  /// Viewers sign in with a browser on this device, which then opens a loopback URL or a URL with the app's own scheme.
  case browser(redirectURL: String)
}

/// Where tokens are stored between runs, separately for each requestor.
///
/// If a service's address changes, the tokens stay valid. An app that signs in at two services for one requestor
/// needs two folders.
@nonexhaustive
public enum TokenStorage: Hashable, Sendable {
  /// Tokens are stored in a folder of this user with mode 0700, which is created if it is missing. Several processes
  /// may share the folder.
  case folder(String)
  /// Tokens are kept in memory only, and end with the process.
  case memory

  /// The default place for tokens: a folder for this program in the user's state directory (`XDG_STATE_HOME`, or else
  /// `~/.local/state`).
  ///
  /// For a user without a home directory, tokens are kept in memory only.
  public static var usual: TokenStorage {
    let variables = ProcessEnvironment.all()
    let base = variables["XDG_STATE_HOME"] ?? variables["HOME"].map { "\($0)/.local/state" }
    let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "app"
    guard let base, base.hasPrefix("/") else { return .memory }
    return .folder("\(base)/\(program)/access-enabler")
  }
}

/// Where the enabler finds the daemon with the box's shared account (the platform account).
@nonexhaustive
public enum PlatformAccountPlace: Hashable, Sendable {
  /// The daemon listens at `REGENT_AGENT_SOCKET`. If that is not set, the enabler tries the socket of this user's
  /// daemon, then the machine's.
  case usual
  /// The daemon listens at this socket only.
  ///
  /// The listener must run as root, as this process's user or as `agentUser`. If `agentUser` is nil, the owner of the
  /// socket's folder is trusted, or else the user `regent`.
  case socket(String, agentUser: String? = nil)
  /// The app does not use the box's shared account.
  case none
}

/// The time limits of an enabler.
public struct EnablerTiming: Hashable, Sendable {
  /// How long one service may take to answer the configuration request.
  ///
  /// Slower services are left out.
  ///
  /// A dead name server costs five seconds before the next name server is asked, and TLS over a slow satellite link
  /// takes eight seconds.
  public var configuration = Duration.seconds(12)
  /// How long `setRequestor` waits for the other services after the first service has answered.
  public var straggler = Duration.seconds(2)
  /// How long a request to a service may take, unless another member of this type limits it.
  public var call = Duration.seconds(30)
  /// How long `logout` waits for the service.
  ///
  /// This device is signed out in its own store before the request.
  ///
  /// A service that does not answer in time is told at the next `setRequestor`.
  public var logout = Duration.milliseconds(1_800)
  /// How long one long poll for the approval lasts, in seconds.
  ///
  /// Services grant at most 55.
  public var wait = 50
  /// The pause between two polls of a service without long polls.
  public var poll = Duration.seconds(5)
  /// How long the box's daemon may take to answer a question.
  public var platform = Duration.seconds(1)
  /// How long the app may take to answer `presentTvProviderDialog`.
  ///
  /// After that the dialog counts as cancelled.
  public var dialog = Duration.seconds(300)
  /// How long a service may be unreachable, as in a restart or fail-over, before the app is told.
  ///
  /// Applies to the wait for a code and to requests that can be repeated.
  public var silence = Duration.seconds(6)
  /// The longest pause between retries.
  public var longestPause = Duration.seconds(60)

  /// Creates the default limits.
  public init() {}

  /// How long the daemon may take to answer this question.
  ///
  /// It answers most questions at once. For a code it asks a service first, and it holds a request for the progress of
  /// a sign-in until there is progress to report.
  func platform(_ question: PlatformQuestion) -> Duration {
    switch question {
    case .status, .assertion, .picker, .leave: platform
    case .access(_, let wait), .signOut(let wait): platform + .seconds(wait)
    case .signIn: call
    case .news: .seconds(PlatformLink.hold) + platform
    }
  }
}

/// The configuration of an enabler, which does not change later.
public struct EnablerConfiguration: Sendable {
  /// The app's credentials; nil only for services that require none.
  public var credentials: Credentials?
  /// The URLs of the services if `setRequestor` names none.
  ///
  /// If this list is empty too, `REGENT_SERVICE` or the box's `agent.conf` names them.
  public var services: [String]
  /// Where tokens are stored.
  public var storage: TokenStorage
  public var login = LoginMethod.secondScreen
  /// The URL to which a secure browser sheet returns, usually with the app's own scheme.
  ///
  /// If nil, the redirect URL of ``login`` is used.
  public var sheetRedirectURL: String?
  /// The program that opens a page, with its arguments before the page's address, such as `["xdg-open"]`.
  ///
  /// With it, the enabler itself opens the pages of providers that require the secure sheet, unless the app has set
  /// `handleSVC`. Without it, all pages are reported with `navigateToUrl`.
  public var browser: [String] = []
  /// Whether to require number matching: the screen shows a number that the viewer must type on the phone.
  public var numberMatching = false
  /// The lifetime to request for registration codes, in whole seconds; nil leaves it to the service.
  public var codeLifetime: Duration?
  /// Information about the device for the service.
  ///
  /// Missing values are read from the system.
  public var device = DeviceInformation()
  /// The publisher's private RSA key, with which the enabler decrypts metadata that a service encrypted for the
  /// publisher.
  public var metadataKey: RSADecryptionKey?
  /// Whether to answer `METADATA_DEVICE_ID` even if no service allows the requestor's apps to read the device id.
  public var exposesDeviceID = false
  /// Where to find the daemon with the box's shared account (the platform account).
  public var platformAccount = PlatformAccountPlace.usual
  public var timing = EnablerTiming()
  /// The certificate authorities that TLS connections to the services trust.
  public var authorities = CertificateAuthorities.system
  /// The proxy for requests to the services.
  public var proxy = ProxyChoice.environment
  /// When the app was built, in milliseconds since 1970.
  ///
  /// If this device's clock shows an earlier time, the clock is wrong.
  public var buildTime: Int64 = 0
  /// Called on a thread of the enabler when an address, a route, the name servers or the clock of this device has
  /// changed.
  ///
  /// The app may then repeat a failed call. The enabler itself checks a shown code at once.
  public var onNetworkChange: (@Sendable () -> Void)?
  /// Returns the wall-clock time in milliseconds since 1970.
  public var wallClock: @Sendable () -> Int64 = { Clocks.wallMilliseconds() }
  /// The file with the machine's id, by which the enabler detects a token store that was copied from another machine.
  public var machineIDFile = "/etc/machine-id"

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - credentials: the app's credentials.
  ///   - services: the URLs of the services if `setRequestor` names none, for example `https://pair.example`.
  ///   - storage: where tokens are stored.
  public init(
    credentials: Credentials? = nil, services: [String] = [], storage: TokenStorage
  ) {
    self.credentials = credentials
    self.services = services
    self.storage = storage
  }
}
