package import RegentOAuth
package import RegentPairing

/// Compare what is asked for with the screen in front of you; approve or deny.
package struct ApprovePage: PhonePage {
  /// What is known of the way between phone and screen.
  package enum Network: String, CaseIterable, Sendable {
    /// Both came from the same address.
    case same
    /// They came from different addresses: a hint, not a proof.
    case different
    /// One of the addresses says nothing, for example behind a proxy.
    case unknown
  }

  /// The code to compare, and the time left.
  package var bar: CodeBar
  /// What the device calls itself, empty when it does not say.
  package var deviceName: ForeignText
  /// Its model, empty when it does not say.
  package var deviceModel: ForeignText
  /// Who somebody else than itself says that the program is; nothing for a device of protocol V1.
  package var program: ForeignText?
  /// What a program that speaks OAuth is to be given; nothing for a device of protocol V1.
  package var scope: Set<Scope.Name>?
  /// Same network or not.
  package var network: Network
  /// When the screen asked for the code.
  package var asked: Instant
  /// Whether the number on the screen is asked for next.
  package var asksNumber: Bool
  /// Whether there is another provider to go to.
  package var hasOthers: Bool
  /// The temporary provider that lets a guest in; nothing when somebody is signed in.
  package var guestOf: ForeignText?

  /// A page for one code.
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

/// Type the number that the screen shows: who sees no screen has one guess in ninety.
package struct MatchNumberPage: PhonePage {
  package var bar: CodeBar
  /// Whether what was typed was no number of two digits.
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

/// “My screen shows no number”, asked once more: a hasty tap must not cancel a code and report an attack.
package struct ReportPage: PhonePage {
  package var bar: CodeBar

  package init(bar: CodeBar) { self.bar = bar }

  package static let template = "report.html"

  package static let fields: [TemplateField<ReportPage>] = [.record("bar") { $0.bar }]
}
