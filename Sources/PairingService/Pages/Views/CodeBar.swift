package import RegentPairing

/// The line at the top of the pages of one code: the code and its remaining time.
package struct CodeBar: Sendable {
  package let code: RegistrationCode
  /// The seconds until the code expires.
  package let secondsLeft: Int

  package init(code: RegistrationCode, expires: Instant, now: Instant) {
    self.code = code
    self.secondsLeft = now.seconds(until: expires)
  }
}

extension CodeBar: TemplateView {
  package static let fields: [TemplateField<CodeBar>] = [
    .text("display") { $0.code.display },
    .duration("left") { $0.secondsLeft },
    .count("seconds") { $0.secondsLeft },
    .path("open") { PagePaths.code($0.code, .open) },
    .path("provider") { PagePaths.code($0.code, .provider) },
    .path("signIn") { PagePaths.code($0.code, .signIn) },
    .path("approve") { PagePaths.code($0.code, .approve) },
    .path("deny") { PagePaths.code($0.code, .deny) },
    .path("release") { PagePaths.code($0.code, .release) },
    .path("renew") { PagePaths.code($0.code, .renew) },
    .path("number") { PagePaths.code($0.code, .number) },
    .path("report") { PagePaths.code($0.code, .report) },
    .path("result") { PagePaths.code($0.code, .result) },
    .path("wait") { PagePaths.code($0.code, .wait) },
  ]
}
