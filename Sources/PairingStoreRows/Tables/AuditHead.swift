import RegentCryptography
import PairingStore
import RegentSQL

/// How far the audit log reaches, signed: without it nobody sees that the last lines were deleted.
struct AuditHead: Sendable, Equatable {
  /// The newest line that is forgotten; the log begins behind it.
  var floor: Int64 = 0
  /// What the chain was there.
  var floorChain: [UInt8] = []
  /// The newest line; a number is never given twice.
  var newest: Int64 = 0
  /// A hash over the signatures of all lines up to there: it also sees a line that was exchanged for another signed one
  /// of the same number, from a copy of the file.
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
