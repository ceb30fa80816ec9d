/// A phone page: a view model with its template and HTTP status.
package protocol PhonePage: TemplateView {
  /// The name of the page's template below `web/templates`.
  static var template: String { get }
  var status: Int { get }
}

extension PhonePage {
  package var status: Int { 200 }
}

/// The mistake in a submitted form, for templates that show the form again.
struct FormProblem<Kind>: TemplateView
where Kind: CaseIterable & RawRepresentable & Sendable, Kind.RawValue == String {
  let kind: Kind

  static var fields: [TemplateField<FormProblem>] {
    [.choice("kind") { $0.kind }]
  }
}

/// The status of a page that shows a form again because of a mistake in the input (RFC 9110, section 15.5.21).
let unprocessableContent = 422

extension String {
  /// The first `limit` Unicode scalars of the text.
  ///
  /// Characters are not counted, because one may consist of a thousand scalars.
  func shortened(to limit: Int) -> String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(limit)))
  }
}
