/// One step of a compiled template.
///
/// The compiler has replaced names by numbers: a field is a position in a record, a text is its number in the catalog.
indirect enum Instruction: Sendable {
  case literal([UInt8])
  case insert(FieldReference, MarkupScanner.Slot)
  case text(MessageUse, MarkupScanner.Slot)
  /// The step inserts one of several texts, picked by the current case of a choice field.
  case chosenText(FieldReference, [MessageUse], MarkupScanner.Slot)
  case iso(FieldReference)
  case branch(FieldReference, negated: Bool, [Instruction], [Instruction])
  case each(FieldReference, [Instruction])
  case with(FieldReference, [Instruction], [Instruction])
}

/// A field of a view model, by numbers: which of the open records (`scope`), then which field of that record, and so on
/// in nested records (`steps`).
struct FieldReference: Sendable {
  let scope: Int
  let steps: [Int]
}

/// A use of a text: its number in the catalog, and the fields for its placeholders in the order in which the text names
/// them.
struct MessageUse: Sendable {
  let message: Int
  let arguments: [FieldReference]
}

struct CompiledTemplate: Sendable {
  let instructions: [Instruction]
}
