/// What a compiled template does, in order.
///
/// Names are gone: fields are positions, texts are numbers.
indirect enum Instruction: Sendable {
  case literal([UInt8])
  case insert(FieldReference, MarkupScanner.Slot)
  case text(MessageUse, MarkupScanner.Slot)
  /// A text for each case of a choice.
  case chosenText(FieldReference, [MessageUse], MarkupScanner.Slot)
  case iso(FieldReference)
  case branch(FieldReference, negated: Bool, [Instruction], [Instruction])
  case each(FieldReference, [Instruction])
  case with(FieldReference, [Instruction], [Instruction])
}

/// A field: which record of those that are open, and the way inside it.
struct FieldReference: Sendable {
  let scope: Int
  let steps: [Int]
}

/// A text by its number, and the fields that fill its gaps in the order the text names them.
struct MessageUse: Sendable {
  let message: Int
  let arguments: [FieldReference]
}

/// A template that is ready to render.
struct CompiledTemplate: Sendable {
  let instructions: [Instruction]
}
