internal import RegentPairing

/// What a template may read of a view model: its fields by name, each with a kind and a way to read it.
package protocol TemplateView: Sendable {
  /// The fields, in the order in which their values lie in a record.
  static var fields: [TemplateField<Self>] { get }
}

/// One field of a view model.
package struct TemplateField<View: Sendable>: Sendable {
  let name: String
  let kind: FieldKind
  let read: @Sendable (View) -> TemplateValue
}

/// What a field holds, known before any view model exists: names and kinds are checked when templates are compiled.
indirect enum FieldKind: Sendable {
  case text, foreign, flag, path, moment, duration, count
  case choice([String])
  case record(RecordSchema)
  case list(RecordSchema)
}

/// The names and kinds of a view model's fields.
struct RecordSchema: Sendable {
  let name: String
  let fields: [(name: String, kind: FieldKind)]

  init<View: TemplateView>(of view: View.Type) {
    name = "\(View.self)"
    fields = View.fields.map { ($0.name, $0.kind) }
  }
}

/// The value of one field.
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

  /// Whether `#if` takes the first branch.
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

/// The values of one view model, in the order of its fields.
struct TemplateRecord: Sendable {
  let values: [TemplateValue]

  init<View: TemplateView>(_ view: View) {
    values = View.fields.map { $0.read(view) }
  }
}

extension TemplateField {
  /// Words of ours, or an answer that the person typed: escaped, otherwise as they are.
  static func text(
    _ name: String, _ read: @escaping @Sendable (View) -> String?
  ) -> TemplateField {
    TemplateField(name: name, kind: .text) { .text(read($0) ?? "") }
  }

  /// Words of somebody else: kept from changing the direction of what stands around them.
  static func foreign(
    _ name: String, _ read: @escaping @Sendable (View) -> ForeignText?
  ) -> TemplateField {
    TemplateField(name: name, kind: .foreign) { .foreign(read($0) ?? ForeignText("")) }
  }

  /// True or false, for `#if`.
  static func flag(_ name: String, _ read: @escaping @Sendable (View) -> Bool) -> TemplateField {
    TemplateField(name: name, kind: .flag) { .flag(read($0)) }
  }

  /// A place on this service: the only kind that may stand in `href`, `src` and `action`.
  static func path(
    _ name: String, _ read: @escaping @Sendable (View) -> SafePath?
  ) -> TemplateField {
    TemplateField(name: name, kind: .path) { .path(read($0)) }
  }

  /// A time in the past, shown as “3 minutes ago”.
  static func moment(
    _ name: String, _ read: @escaping @Sendable (View) -> Instant?
  ) -> TemplateField {
    TemplateField(name: name, kind: .moment) { .moment(read($0)) }
  }

  /// A length of time in seconds, shown as “3 minutes”.
  static func duration(
    _ name: String, _ read: @escaping @Sendable (View) -> Int?
  ) -> TemplateField {
    TemplateField(name: name, kind: .duration) { .duration(max(0, read($0) ?? 0)) }
  }

  /// A whole number.
  static func count(_ name: String, _ read: @escaping @Sendable (View) -> Int) -> TemplateField {
    TemplateField(name: name, kind: .count) { .count(read($0)) }
  }

  /// One of several named cases; `{{t notice.[kind].title}}` picks the text of the case.
  static func choice<Case: CaseIterable & RawRepresentable & Sendable>(
    _ name: String, _ read: @escaping @Sendable (View) -> Case
  ) -> TemplateField where Case.RawValue == String {
    let names = Case.allCases.map(\.rawValue)
    return TemplateField(name: name, kind: .choice(names)) { view in
      .choice(names.firstIndex(of: read(view).rawValue) ?? 0)
    }
  }

  /// Another view model, or none; its fields are read as `name.field` or inside `#with`.
  static func record<Inner: TemplateView>(
    _ name: String, _ read: @escaping @Sendable (View) -> Inner?
  ) -> TemplateField {
    TemplateField(name: name, kind: .record(RecordSchema(of: Inner.self))) {
      .record(read($0).map { TemplateRecord($0) })
    }
  }

  /// View models of one type, for `#each`.
  static func list<Inner: TemplateView>(
    _ name: String, _ read: @escaping @Sendable (View) -> [Inner]
  ) -> TemplateField {
    TemplateField(name: name, kind: .list(RecordSchema(of: Inner.self))) {
      .list(read($0).map { TemplateRecord($0) })
    }
  }
}
