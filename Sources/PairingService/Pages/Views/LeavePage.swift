/// The last page of a sign-in that an application's own page began.
///
/// It sends the browser back there with a `Refresh` header, and shows a link as well.
package struct LeavePage: PhonePage {
  package enum Kind: String, CaseIterable, Sendable {
    case signedIn = "signed-in"
    case signedOut = "signed-out"
    /// The page says that the viewer denied the code.
    case denied
  }

  package var kind: Kind
  /// The application's address, to which the browser is sent.
  package var address: SafePath
  /// The requestor whose app was signed in or denied.
  package var brand: Brand?

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
