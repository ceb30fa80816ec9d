/// A registration code on a page: eight letters, shown as two groups.
package struct PageCode: Hashable, Sendable {
  /// Without the dash, as in addresses.
  package let wire: String

  /// The letters of codes: no vowels, nothing that looks like something else.
  package static let letters = "BCDFGHJKLMNPQRSTVWXZ"

  /// A code from its wire form; nil for anything but eight of the letters.
  package init?(wire: String) {
    guard wire.utf8.count == 8, wire.allSatisfy({ PageCode.letters.contains($0) }) else {
      return nil
    }
    self.wire = wire
  }

  /// With the dash, as on the screen.
  package var display: String { "\(wire.prefix(4))-\(wire.suffix(4))" }
}

/// The line above the pages of one code: the code, and the time that is left.
package struct CodeBar: Sendable {
  /// The code.
  package let code: PageCode
  /// The seconds until it expires.
  package let secondsLeft: Int

  /// The bar as of now.
  package init(code: PageCode, expires: Moment, now: Moment) {
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
    .path("result") { PagePaths.code($0.code, .result) },
    .path("wait") { PagePaths.code($0.code, .wait) },
  ]
}
