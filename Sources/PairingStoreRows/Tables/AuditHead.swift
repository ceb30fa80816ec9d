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

  /// The key of the only row.
  fileprivate var id: String { "audit" }

  static func link(_ chain: [UInt8], _ signature: [UInt8]) -> [UInt8] {
    SHA256.hash(chain + signature)
  }
}

extension Tables {
  static let auditHead = Table<AuditHead>(
    "audit_head", .column("id", \.id), .column("floor", \.floor), .column("floor_chain", \.floorChain),
    .column("newest", \.newest), .column("chain", \.chain)
  ) { id, floor, floorChain, newest, chain throws(UnreadableRow) in
    guard id == "audit" else { throw UnreadableRow() }
    return AuditHead(floor: floor, floorChain: floorChain, newest: newest, chain: chain)
  }
}
