/// One state of the phone's pages: its template, its status and its fields.
package protocol PhonePage: TemplateView {
  /// The file below `web/templates`.
  static var template: String { get }
  /// The HTTP status it is sent with.
  var status: Int { get }
}

extension PhonePage {
  /// Most pages are plain answers.
  package var status: Int { 200 }
}

/// A form that came back: what is wrong with which field.
struct FormProblem<Kind>: TemplateView
where Kind: CaseIterable & RawRepresentable & Sendable, Kind.RawValue == String {
  let kind: Kind

  static var fields: [TemplateField<FormProblem>] {
    [.choice("kind") { $0.kind }]
  }
}

/// A form came back with a mistake in it: not an error of the service, and not a success either.
let unprocessableContent = 422

extension String {
  /// The beginning, counted in Unicode scalars: one character may have a thousand of them.
  func shortened(to limit: Int) -> String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(limit)))
  }
}
