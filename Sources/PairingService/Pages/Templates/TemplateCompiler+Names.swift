// Replaces names in templates by positions: names of view-model fields, and keys of texts in the locale files.

extension TemplateCompiler {
  mutating func compileText(
    _ key: String, _ arguments: [(name: String, field: String)], _ line: Int, _ work: inout Work
  ) throws(WebFileError) {
    let slot = try slot(line, &work)
    guard slot != .address else { throw work.problem("a text is not an address", line: line) }
    guard let choice = ChosenKey(key) else {
      let use = try use(key, arguments, line, work)
      try refuseUnused(arguments, in: [key], line, work)
      work.out.append(.text(use, slot))
      return
    }
    let (reference, kind) = try resolve(choice.field, line, work)
    guard case .choice(let cases) = kind else {
      throw work.problem("\(choice.field) is no choice", line: line)
    }
    var uses: [MessageUse] = []
    for name in cases { uses.append(try use(choice.key(for: name), arguments, line, work)) }
    try refuseUnused(arguments, in: cases.map { choice.key(for: $0) }, line, work)
    work.out.append(.chosenText(reference, uses, slot))
  }

  /// Looks up the text with this key and the fields for its placeholders.
  private mutating func use(
    _ key: String, _ arguments: [(name: String, field: String)], _ line: Int, _ work: Work
  ) throws(WebFileError) -> MessageUse {
    guard let number = texts.number(of: key) else {
      throw work.problem("there is no text \(key) in the locales", line: line)
    }
    usedKeys.insert(key)
    var references: [FieldReference] = []
    for gap in texts.gaps(of: number) {
      guard let argument = arguments.first(where: { $0.name == gap }) else {
        throw work.problem("\(key) needs \(gap)=field", line: line)
      }
      let (reference, kind) = try resolve(argument.field, line, work)
      switch kind {
      case .count: break
      case .text, .foreign, .moment, .duration:
        guard gap != "count" else {
          throw work.problem("count must be a whole number, not \(argument.field)", line: line)
        }
      default: throw work.problem("\(argument.field) cannot be shown in a text", line: line)
      }
      references.append(reference)
    }
    return MessageUse(message: number, arguments: references)
  }

  private func refuseUnused(
    _ arguments: [(name: String, field: String)], in keys: [String], _ line: Int, _ work: Work
  ) throws(WebFileError) {
    for argument in arguments {
      let isUsed = keys.contains { key in
        texts.number(of: key).map { texts.gaps(of: $0).contains(argument.name) } ?? false
      }
      guard isUsed else { throw work.problem("the text has no {\(argument.name)}", line: line) }
    }
  }

  /// Finds the field that a dotted name means: takes the innermost open record that has the first part of the name,
  /// then follows the other parts.
  func resolve(
    _ name: String, _ line: Int, _ work: Work
  ) throws(WebFileError) -> (FieldReference, FieldKind) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for scope in work.scopes.indices.reversed() {
      guard var place = work.scopes[scope].fields.firstIndex(where: { $0.name == parts[0] }) else {
        continue
      }
      var kind = work.scopes[scope].fields[place].kind
      var steps = [place]
      for part in parts.dropFirst() {
        guard case .record(let inner) = kind,
          let next = inner.fields.firstIndex(where: { $0.name == part })
        else { throw work.problem("there is no field \(name) here", line: line) }
        place = next
        steps.append(place)
        kind = inner.fields[place].kind
      }
      return (FieldReference(scope: scope, steps: steps), kind)
    }
    let known = work.scopes.map(\.name).joined(separator: ", ")
    throw work.problem("there is no field \(name) here (looked in \(known))", line: line)
  }
}

/// The key of a text with a choice field in brackets, such as `notice.[kind].title`.
private struct ChosenKey {
  let field: String
  private let before: Substring
  private let after: Substring

  init?(_ key: String) {
    guard let open = key.firstIndex(of: "["), let close = key.firstIndex(of: "]"), open < close
    else { return nil }
    field = String(key[key.index(after: open)..<close])
    before = key[..<open]
    after = key[key.index(after: close)...]
  }

  func key(for name: String) -> String { "\(before)\(name)\(after)" }
}
