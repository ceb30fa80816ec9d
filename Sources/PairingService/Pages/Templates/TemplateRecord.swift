internal import RegentPairing

/// A view model that a template can read: a list of named, typed fields.
package protocol TemplateView: Sendable {
  /// The view model's fields, in the order of the values in a `TemplateRecord`.
  static var fields: [TemplateField<Self>] { get }
}

package struct TemplateField<View: Sendable>: Sendable {
  let name: String
  let kind: FieldKind
  let read: @Sendable (View) -> TemplateValue
}

/// The type of a field of a view model.
///
/// The type is known before a value exists, so the compiler can check each use of the field.
indirect enum FieldKind: Sendable {
  case text, foreign, flag, path, moment, duration, count
  case choice([String])
  case record(RecordSchema)
  case list(RecordSchema)
}

/// The names and types of a view model's fields.
struct RecordSchema: Sendable {
  let name: String
  let fields: [(name: String, kind: FieldKind)]

  init<View: TemplateView>(of view: View.Type) {
    name = "\(View.self)"
    fields = View.fields.map { ($0.name, $0.kind) }
  }
}

enum TemplateValue: Sendable {
  case text(String)
  case foreign(ForeignText)
  case flag(Bool)
  case path(SafePath?)
  case moment(Instant?)
  case duration(Int)
  case count(Int)
  case choice(Int)
  case record(TemplateRecord?)
  case list([TemplateRecord])

  /// Whether `#if` takes its first branch for this field's value.
  var isPresent: Bool {
    switch self {
    case .text(let text): !text.isEmpty
    case .foreign(let text): !text.isEmpty
    case .flag(let flag): flag
    case .path(let path): path != nil
    case .moment(let moment): moment != nil
    case .duration(let seconds): seconds > 0
    case .count(let count): count != 0
    case .choice: true
    case .record(let record): record != nil
    case .list(let records): !records.isEmpty
    }
  }
}

struct TemplateRecord: Sendable {
  let values: [TemplateValue]

  init<View: TemplateView>(_ view: View) {
    values = View.fields.map { $0.read(view) }
  }
}

extension TemplateField {
  /// A field with text of the project, or with input of the person who sees the page.
  ///
  /// It is escaped, otherwise unchanged.
  static func text(
    _ name: String, _ read: @escaping @Sendable (View) -> String?
  ) -> TemplateField {
    TemplateField(name: name, kind: .text) { .text(read($0) ?? "") }
  }

  /// A field with text of an untrusted party.
  ///
  /// It is escaped and also isolated, so that its letters cannot change the direction of the text around it.
  static func foreign(
    _ name: String, _ read: @escaping @Sendable (View) -> ForeignText?
  ) -> TemplateField {
    TemplateField(name: name, kind: .foreign) { .foreign(read($0) ?? ForeignText("")) }
  }

  static func flag(_ name: String, _ read: @escaping @Sendable (View) -> Bool) -> TemplateField {
    TemplateField(name: name, kind: .flag) { .flag(read($0)) }
  }

  /// A field with an address on this service.
  ///
  /// No other type of field is allowed in `href`, `src` and `action`.
  static func path(
    _ name: String, _ read: @escaping @Sendable (View) -> SafePath?
  ) -> TemplateField {
    TemplateField(name: name, kind: .path) { .path(read($0)) }
  }

  /// A field with a time in the past, shown as “3 minutes ago”.
  static func moment(
    _ name: String, _ read: @escaping @Sendable (View) -> Instant?
  ) -> TemplateField {
    TemplateField(name: name, kind: .moment) { .moment(read($0)) }
  }

  /// A field with a duration in seconds, shown as “3 minutes”.
  static func duration(
    _ name: String, _ read: @escaping @Sendable (View) -> Int?
  ) -> TemplateField {
    TemplateField(name: name, kind: .duration) { .duration(max(0, read($0) ?? 0)) }
  }

  static func count(_ name: String, _ read: @escaping @Sendable (View) -> Int) -> TemplateField {
    TemplateField(name: name, kind: .count) { .count(read($0)) }
  }

  /// A field with a case of an enumeration.
  ///
  /// `{{t notice.[kind].title}}` shows the text of the current case.
  static func choice<Case: CaseIterable & RawRepresentable & Sendable>(
    _ name: String, _ read: @escaping @Sendable (View) -> Case
  ) -> TemplateField where Case.RawValue == String {
    let names = Case.allCases.map(\.rawValue)
    return TemplateField(name: name, kind: .choice(names)) { view in
      .choice(names.firstIndex(of: read(view).rawValue) ?? 0)
    }
  }

  /// A field with a nested view model or nil.
  ///
  /// Its fields are read as `name.field` or inside `#with`.
  static func record<Inner: TemplateView>(
    _ name: String, _ read: @escaping @Sendable (View) -> Inner?
  ) -> TemplateField {
    TemplateField(name: name, kind: .record(RecordSchema(of: Inner.self))) {
      .record(read($0).map { TemplateRecord($0) })
    }
  }

  /// A field with a list of view models of one type, for `#each`.
  static func list<Inner: TemplateView>(
    _ name: String, _ read: @escaping @Sendable (View) -> [Inner]
  ) -> TemplateField {
    TemplateField(name: name, kind: .list(RecordSchema(of: Inner.self))) {
      .list(read($0).map { TemplateRecord($0) })
    }
  }
}
