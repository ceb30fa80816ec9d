import RegentCryptography
import PairingStore
import RegentSQL

/// The signed record of how far the audit log extends.
///
/// Without it, a deletion of the newest lines could not be detected.
struct AuditHead: Sendable, Equatable {
  /// The number of the newest deleted audit line; the log begins after it.
  var floor: Int64 = 0
  /// The hash chain's value at the newest deleted audit line (`floor`).
  var floorChain: [UInt8] = []
  /// The number of the newest audit line.
  ///
  /// Numbers are never reused.
  var newest: Int64 = 0
  /// A hash over the signatures of all audit lines up to the newest.
  ///
  /// It detects that a line was replaced by another signed line with the same number, from an older copy of the file.
  var chain: [UInt8] = []

  static func link(_ chain: [UInt8], _ signature: [UInt8]) -> [UInt8] {
    SHA256.hash(chain + signature)
  }
}

extension Tables {
  static let auditHead = Table<AuditHead>(
    "audit_head",
    [.text("id"), .number("floor"), .bytes("floor_chain"), .number("newest"), .bytes("chain")]
  ) { head, _ in
    [
      .text("audit"), .integer(head.floor), .blob(head.floorChain), .integer(head.newest), .blob(head.chain),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    guard try fields.text() == "audit" else { throw UnreadableRow() }
    return AuditHead(
      floor: try fields.number(), floorChain: try fields.bytes(), newest: try fields.number(),
      chain: try fields.bytes())
  }
}
