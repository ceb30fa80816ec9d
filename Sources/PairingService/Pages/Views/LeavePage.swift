/// The end of what a programmer's page began: the browser goes back there by itself, or with the one link.
package struct LeavePage: PhonePage {
  /// What was done here.
  package enum Kind: String, CaseIterable, Sendable {
    /// A code was approved.
    case signedIn = "signed-in"
    /// The browser was signed out.
    case signedOut = "signed-out"
    /// The viewer said no.
    case denied
  }

  /// What was done here.
  package var kind: Kind
  /// Where the browser goes.
  package var address: SafePath
  /// Whose app it was about.
  package var brand: Brand?

  /// A page on the way out.
  package init(_ kind: Kind, address: SafePath, brand: Brand?) {
    self.kind = kind
    self.address = address
    self.brand = brand
  }

  package static let template = "leave.html"

  package static let fields: [TemplateField<LeavePage>] = [
    .choice("kind") { $0.kind },
    .flag("isNo") { $0.kind == .denied },
    .path("address") { $0.address },
  ]
}
