internal import RegentPairing

/// Runs the instructions of a compiled template once and returns the bytes of the page.
struct TemplateRenderer {
  private let texts: LanguageTexts
  private let now: Instant
  private let base: String
  private var scopes: [TemplateRecord]
  private var out: [UInt8] = []

  static func render(
    _ template: CompiledTemplate, records: [TemplateRecord], texts: LanguageTexts, now: Instant,
    base: String = ""
  ) -> [UInt8] {
    var renderer = TemplateRenderer(texts: texts, now: now, base: base, scopes: records)
    renderer.out.reserveCapacity(16_384)
    renderer.run(template.instructions)
    return renderer.out
  }

  private init(texts: LanguageTexts, now: Instant, base: String, scopes: [TemplateRecord]) {
    self.texts = texts
    self.now = now
    self.base = base
    self.scopes = scopes
  }

  private mutating func run(_ instructions: [Instruction]) {
    for instruction in instructions { run(instruction) }
  }

  private mutating func run(_ instruction: Instruction) {
    switch instruction {
    case .literal(let bytes): out += bytes
    case .insert(let reference, let slot): insert(value(reference), slot)
    case .text(let use, let slot): insert(use, slot)
    case .chosenText(let reference, let uses, let slot):
      if case .choice(let place)? = value(reference), uses.indices.contains(place) {
        insert(uses[place], slot)
      }
    case .iso(let reference):
      if case .moment(let moment?)? = value(reference) { out += moment.iso8601.utf8 }
    case .branch(let reference, let negated, let then, let otherwise):
      let present = value(reference)?.isPresent ?? false
      run(present != negated ? then : otherwise)
    case .each(let reference, let body):
      guard case .list(let records)? = value(reference) else { return }
      for record in records { run(body, inside: record) }
    case .with(let reference, let body, let otherwise):
      if case .record(let record?)? = value(reference) {
        run(body, inside: record)
      } else {
        run(otherwise)
      }
    }
  }

  private mutating func run(_ body: [Instruction], inside record: TemplateRecord) {
    scopes.append(record)
    run(body)
    scopes.removeLast()
  }

  private func value(_ reference: FieldReference) -> TemplateValue? {
    var record = scopes[reference.scope]
    for step in reference.steps.dropLast() {
      guard case .record(let inner?) = record.values[step] else { return nil }
      record = inner
    }
    return reference.steps.last.map { record.values[$0] }
  }

  private mutating func insert(_ use: MessageUse, _ slot: MarkupScanner.Slot) {
    let values = use.arguments.map { value($0) }
    // The compiler has checked that the argument of `count` is a whole number.
    let count = zip(texts.gaps(of: use.message), values).lazy.compactMap { gap, value in
      if gap == "count", case .count(let count)? = value { count } else { nil }
    }.first
    for part in texts.parts(of: use.message, count: count) {
      switch part {
      case .text(let bytes): out += bytes
      case .gap(let place): insert(values[place], slot)
      }
    }
  }

  private mutating func insert(_ value: TemplateValue?, _ slot: MarkupScanner.Slot) {
    switch value {
    case .text(let text): Escaping.append(text, to: &out)
    case .foreign(let text): insert(text, slot)
    case .path(let path):
      // The value of a form field is sent back to this service, which expects a path without the base. The browser
      // follows other paths, and they need the base.
      let text = slot == .fieldValue ? path?.text : path?.below(base)
      Escaping.append(text ?? "", to: &out)
    case .count(let count): out += "\(count)".utf8
    case .moment(let moment?): out += texts.ago(moment, now: now)
    case .duration(let seconds): out += texts.duration(seconds)
    case .moment(nil), .flag, .choice, .record, .list, nil: break
    }
  }

  /// Inserts untrusted text in isolation, so that right-to-left letters in a device's name cannot reorder the words of
  /// the page after it.
  private mutating func insert(_ text: ForeignText, _ slot: MarkupScanner.Slot) {
    switch slot {
    case .text:
      out += TemplateRenderer.openFence
      Escaping.append(text.text, to: &out)
      out += TemplateRenderer.closeFence
    case .plain:
      out += TemplateRenderer.openIsolate
      Escaping.append(text.text, to: &out)
      out += TemplateRenderer.closeIsolate
    case .fieldValue, .address: Escaping.append(text.text, to: &out)
    }
  }

  private static let openFence = Array("<bdi>".utf8)
  private static let closeFence = Array("</bdi>".utf8)
  private static let openIsolate = Array("\u{2068}".utf8)
  private static let closeIsolate = Array("\u{2069}".utf8)
}
