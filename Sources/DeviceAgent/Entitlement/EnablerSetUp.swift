import AccessEnabler
import CommandKit
import RegentHTTPCodec
import RegentPairingWire
import RegentPlatform

extension AgentSettings {
  /// Creates the SDK's enabler with these settings.
  func enabler(
    numberMatching: Bool = false, codeLifetime: Duration? = nil, leavesNoTrace: Bool = false,
    recovery: Recovery? = nil, buildTime: Int64
  ) throws(CommandError) -> AccessEnabler {
    let services = try neededServices().map(\.description)
    let credentials: Credentials =
      switch try self.credentials() {
      case .keyPair(let publicKey, let secret): .keyPair(publicKey: publicKey, secret: secret)
      case .softwareStatement(let statement): .softwareStatement(statement)
      }
    do throws(FileError) {
      if !leavesNoTrace { try PrivateDirectory.ensure(state) }
      var configuration = EnablerConfiguration(
        credentials: credentials, services: services,
        storage: leavesNoTrace ? .memory : .folder(state))
      configuration.authorities = authorities
      configuration.proxy = proxy
      configuration.device[.deviceName] = name
      configuration.numberMatching = numberMatching
      configuration.codeLifetime = codeLifetime
      configuration.buildTime = buildTime
      configuration.timing.longestPause = .seconds(8)
      if let recovery { configuration.onNetworkChange = { recovery.changed() } }
      // The box's own sign-in must not use the box's shared account (the platform account), because the daemon would
      // ask itself.
      configuration.platformAccount = .none
      if waitsBriefly {
        configuration.timing.configuration = .seconds(1)
        configuration.timing.silence = .zero
        configuration.timing.logout = .milliseconds(800)
      }
      let enabler = try AccessEnabler(configuration)
      if profile != nil || visitor != nil {
        enabler.setOptions(EnablerOptions(applicationProfile: profile, visitorID: visitor))
      }
      return enabler
    } catch {
      throw CommandError(state: error)
    }
  }
}

extension CommandError {
  /// Converts an error of the SDK into a message, a hint and an exit code.
  init(_ error: EntitlementError) {
    let (code, exit): (String, ExitCode) =
      switch error.kind {
      // Programs that read this code start a sign-in, which helps when the viewer uses another account.
      case .notAuthenticated, .accountDisabled: ("not-signed-in", .notSignedIn)
      case .cancelled: ("cancelled", .notSignedIn)
      case .denied: ("denied", .denied)
      case .codeExpired, .codeWithdrawn: ("expired", .expired)
      case .temporaryPassExpired: ("temporary-pass-expired", .expired)
      case .notAuthorized: ("not-authorized", .denied)
      case .parentalControls: ("parental-controls", .denied)
      case .tooManyResources: ("too-many-resources", .usage)
      case .malformedResource: ("malformed-resource", .usage)
      case .unknownProvider: ("unknown-provider", .usage)
      case .dataNeeded: ("data-needed", .usage)
      case .unknownRequestor: ("unknown-requestor", .failed)
      case .notTrusted: ("not-trusted", .failed)
      case .unreachable: ("unreachable", .unreachable)
      case .unsafeConnection: ("certificate", .unreachable)
      case .clockWrong: ("clock", .unreachable)
      case .captivePortal: ("captive-portal", .unreachable)
      case .throttled: ("busy", .unreachable)
      case .service: ("service", .failed)
      case .superseded, .notConfigured, .outOfOrder: ("failed", .failed)
      }
    let hint: String? =
      if case .dataNeeded(let provider) = error.kind {
        "run regent pair --provider \(provider) --data email=ADDRESS"
      } else {
        error.hint ?? error.patience ?? error.kind.nextStep
      }
    self.init(error.description, hint: hint, code: code, exit: exit)
  }
}

extension CommandError {
  /// Converts the error of a request for a resource into a message.
  ///
  /// A refusal names the resource and the next step.
  init(_ error: EntitlementError, about resource: String) {
    let plain = CommandError(error)
    let reason: String
    switch error.kind {
    case .notAuthorized where error.status == .deniedRepeatedly:
      reason = "denied repeatedly; regent asks the service again in a minute"
    case .notAuthorized: reason = error.message
    case .parentalControls: reason = error.description
    default:
      self = plain
      return
    }
    self.init(
      "\"\(resource.prefix(128))\" may not be watched" + (reason.isEmpty ? "" : ": \(reason)"),
      hint: "the provider's rules do not allow this title; the operator finds out why: regentctl why BOX "
        + "\(shellQuoted(String(resource.prefix(128)))) (regentctl device list shows BOX)",
      code: plain.code, exit: plain.exit)
  }
}

extension EntitlementError {
  /// The pause that the service asked for, in whole seconds.
  fileprivate var secondsAsked: Int64? { retryAfter.map(\.components.seconds) }

  fileprivate var patience: String? {
    kind == .throttled ? secondsAsked.map(Self.patience) : nil
  }

  /// The hint with the pause that a busy service asked for.
  static func patience(_ seconds: Int64) -> String { "try again in \(seconds) s" }
}

/// What helps when an operator has disabled the account of the box.
let accountDisabledHint =
  "ask the TV provider to enable the account, or sign in with another account: regent pair"

extension EntitlementError.Kind {
  /// A hint that says what the user can type next.
  fileprivate var nextStep: String? {
    switch self {
    case .notAuthenticated: "sign in: regent pair"
    case .accountDisabled: accountDisabledHint
    case .codeExpired, .codeWithdrawn, .denied: "request a new code: regent pair"
    case .unknownRequestor: "check --requestor; on the service, regentctl requestor list shows the ids"
    case .notTrusted:
      "check --public-key and --secret-file; on the service, regentctl key list REQUESTOR shows the keys"
    case .unreachable: "check the network and the service's address: regent doctor"
    case .unsafeConnection: "find out what is wrong with the certificate: regent doctor"
    case .clockWrong: "check the date and time of this box, then run regent doctor"
    case .captivePortal: "sign in to the network with a browser, or check the service's address: regent doctor"
    case .tooManyResources: "name fewer titles: at most five, unless the service's operator allows more"
    case .unknownProvider: "list the providers: regent providers"
    case .throttled: "try again in a minute"
    case .service: "try again later, or run regent doctor"
    default: nil
    }
  }
}

extension AgentFailure {
  /// Converts an error of the SDK for the pairing screen.
  init(_ error: EntitlementError, host: String) {
    let known = CommandError(error)
    let trouble: PairingObstacle =
      switch error.kind {
      case .unreachable: .offline(host: host)
      case .clockWrong: .clock
      case .unsafeConnection: .certificate(error.fault ?? .refusedCertificate)
      case .captivePortal: .portal
      case .throttled: .busy(seconds: error.secondsAsked)
      case .accountDisabled: .accountDisabled
      case .notTrusted, .unknownRequestor, .unknownProvider, .dataNeeded: .refused
      default: .service
      }
    self.init(code: known.code, message: known.message, hint: known.hint, trouble: trouble)
  }
}

extension EntitlementError {
  static let accountDisabled = EntitlementError(.accountDisabled)

  /// Whether retrying may help without an action of the user.
  ///
  /// An error with a hint needs an action on this box.
  var isWorthWaiting: Bool { isPassing && hint == nil }

  /// Whether the problem may disappear by itself.
  var isPassing: Bool {
    switch kind {
    case .unreachable, .unsafeConnection, .clockWrong, .captivePortal, .throttled, .service: true
    default: false
    }
  }
}
