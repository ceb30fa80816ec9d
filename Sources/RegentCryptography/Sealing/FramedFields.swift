/// Encodes a list of fields as one message, so that two different lists never give the same bytes.
///
/// If fields were only joined, an attacker could move bytes from one field to its neighbour under the same signature
/// (`ab` + `c` = `a` + `bc`). Here each field is a type, a length and its bytes. An absent field is encoded differently
/// from an empty one, and a number differently from a text.
public struct FramedFields: Sendable {
  private enum Kind: UInt8 {
    case absent = 0
    case bytes = 1
    case text = 2
    case number = 3
  }

  /// The message with all fields that were added.
  public private(set) var bytes: [UInt8] = []

  /// Starts a message for one purpose.
  ///
  /// The purpose is the first field, so messages of two purposes always differ.
  public init(purpose: String, version: UInt8) {
    // The message of a stored row has a few hundred bytes; reserving them at once avoids six reallocations.
    bytes.reserveCapacity(512)
    append(purpose)
    append(Int64(version))
  }

  /// Adds a field of bytes; nil is an absent field.
  public mutating func append(_ field: [UInt8]?) {
    frame(field == nil ? .absent : .bytes, field?.count ?? 0)
    if let field { bytes += field }
  }

  /// Adds a text field in UTF-8; nil is an absent field.
  public mutating func append(_ field: String?) {
    frame(field == nil ? .absent : .text, field?.utf8.count ?? 0)
    if let field { bytes += field.utf8 }
  }

  /// Adds a number field; nil is an absent field.
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
