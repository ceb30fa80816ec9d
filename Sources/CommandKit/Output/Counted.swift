/// The count with its noun, in the singular or with an `s`: `1 sign-in`, `2 sign-ins`.
public func counted(_ count: Int, _ noun: String) -> String { counted(count, noun, noun + "s") }

/// The count with its noun, in the singular or the given plural: `1 box`, `2 boxes`.
public func counted(_ count: Int, _ noun: String, _ many: String) -> String { "\(count) \(count == 1 ? noun : many)" }
