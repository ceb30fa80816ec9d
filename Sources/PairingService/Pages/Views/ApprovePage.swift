package import RegentOAuth
package import RegentPairing

/// The page where the viewer compares the request with the screen and approves or denies it.
package struct ApprovePage: PhonePage {
  /// Whether the network addresses show that phone and screen are on the same network.
  package enum Network: String, CaseIterable, Sendable {
    /// The phone and the screen sent their requests from the same address, or from one private /24.
    case same
    /// The phone and the screen have different addresses.
    ///
    /// This is a hint for the viewer, not a proof of an attack.
    case different
    /// The addresses do not show whether phone and screen are on the same network, for example behind a proxy.
    case unknown
  }

  package var bar: CodeBar
  /// The name that the device gives itself; empty when it sends none.
  package var deviceName: ForeignText
  /// The device's model, as the device states it; empty when it sends none.
  package var deviceModel: ForeignText
  /// The OAuth client's name, if an operator or a software statement confirmed it; nil when only the client itself
  /// claims it, and for a device of protocol V1.
  package var program: ForeignText?
  /// The OAuth scope that the client asks for; nil for a device of protocol V1.
  package var scope: Set<Scope.Name>?
  package var network: Network
  /// The time at which the screen asked for the code.
  package var asked: Instant
  /// Whether the next page asks for the number that the screen shows.
  package var asksNumber: Bool
  /// Whether the viewer can choose another provider for this code.
  package var hasOthers: Bool
  /// The name of the temporary provider when the viewer is a guest; nil when an account is signed in.
  package var guestOf: ForeignText?

  package init(
    bar: CodeBar, deviceName: ForeignText, deviceModel: ForeignText, network: Network,
    asked: Instant, asksNumber: Bool = false, hasOthers: Bool
  ) {
    self.bar = bar
    self.deviceName = deviceName
    self.deviceModel = deviceModel
    self.network = network
    self.asked = asked
    self.asksNumber = asksNumber
    self.hasOthers = hasOthers
  }

  package static let template = "approve.html"

  package static let fields: [TemplateField<ApprovePage>] = [
    .record("bar") { $0.bar },
    .foreign("deviceName") { $0.deviceName },
    .foreign("deviceModel") { $0.deviceModel },
    .foreign("program") { $0.program },
    .flag("isClient") { $0.scope != nil },
    .flag("mayIdentify") { $0.scope?.contains(.openid) == true },
    .flag("mayKnowProvider") { $0.scope?.contains(.profile) == true },
    .flag("mayStay") { $0.scope?.contains(.offlineAccess) == true },
    .flag("mayWatch") { $0.scope?.contains(.entitlements) == true },
    .choice("network") { $0.network },
    .moment("asked") { $0.asked },
    .flag("asksNumber") { $0.asksNumber },
    .flag("hasOthers") { $0.hasOthers },
    .flag("mayChange") { $0.hasOthers || $0.guestOf == nil },
    .foreign("guestOf") { $0.guestOf },
  ]
}

/// The page that asks for the two-digit number on the screen.
///
/// An attacker who tricks the viewer remotely sees no screen and has one guess in ninety.
package struct MatchNumberPage: PhonePage {
  package var bar: CodeBar
  /// Whether the viewer's last input was not a number of two digits.
  package var isAgain: Bool

  package init(bar: CodeBar, isAgain: Bool = false) {
    self.bar = bar
    self.isAgain = isAgain
  }

  package static let template = "match-number.html"

  package static let fields: [TemplateField<MatchNumberPage>] = [
    .record("bar") { $0.bar },
    .flag("isAgain") { $0.isAgain },
  ]
}

/// The page that asks for confirmation after “My screen shows no number”.
///
/// Without it, an accidental tap would cancel the code and report an attack.
package struct ReportPage: PhonePage {
  package var bar: CodeBar

  package init(bar: CodeBar) { self.bar = bar }

  package static let template = "report.html"

  package static let fields: [TemplateField<ReportPage>] = [.record("bar") { $0.bar }]
}
