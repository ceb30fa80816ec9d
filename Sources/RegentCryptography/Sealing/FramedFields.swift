/// Several fields as one message, so that no two lists of fields give the same bytes.
///
/// Joining fields as they are would let an attacker move bytes from one field to its neighbour under one
/// signature (`ab` + `c` = `a` + `bc`). Here each field is a kind, a length and its bytes; a field that is absent
/// differs from an empty one and a number from a text.
public struct FramedFields: Sendable {
  private enum Kind: UInt8 {
    case absent = 0
    case bytes = 1
    case text = 2
    case number = 3
  }

  /// The message so far.
  public private(set) var bytes: [UInt8] = []

  /// A message for one purpose, which is its first field: no two purposes share a message.
  public init(purpose: String, version: UInt8) {
    // A row's message is a few hundred bytes: room for it at once, not in six steps.
    bytes.reserveCapacity(512)
    append(purpose)
    append(Int64(version))
  }

  /// Adds bytes, or nothing.
  public mutating func append(_ field: [UInt8]?) {
    frame(field == nil ? .absent : .bytes, field?.count ?? 0)
    if let field { bytes += field }
  }

  /// Adds a text in UTF-8, or nothing.
  public mutating func append(_ field: String?) {
    frame(field == nil ? .absent : .text, field?.utf8.count ?? 0)
    if let field { bytes += field.utf8 }
  }

  /// Adds a number, or nothing.
  public mutating func append(_ field: Int64?) {
    frame(field == nil ? .absent : .number, field == nil ? 0 : 8)
    guard let field else { return }
    let pattern = UInt64(bitPattern: field)
    for place in 0..<8 {
      bytes.append(UInt8(truncatingIfNeeded: pattern >> UInt64(56 - 8 * place)))
    }
  }

  private mutating func frame(_ kind: Kind, _ count: Int) {
    bytes.append(kind.rawValue)
    let length = UInt32(count)
    for place in 0..<4 {
      bytes.append(UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * place)))
    }
  }
}
