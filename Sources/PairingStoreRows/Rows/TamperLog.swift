import PairingStore
import RegentPairing
import RegentPlatform

/// The rows that failed verification since the store was opened.
///
/// Each row is reported once.
final class TamperLog: Sendable {
  private struct TamperLogState {
    var known: Set<TamperedRow> = []
    var untold: [TamperedRow] = []
  }

  /// The maximum number of rows with failed verification that are remembered.
  ///
  /// A completely corrupt file thus fills neither the memory nor the log.
  private static let capacity = 100_000
  private let state = Locked(TamperLogState())

  func add(_ rows: [TamperedRow]) {
    guard !rows.isEmpty else { return }
    state.withLock { state in
      for row in rows where state.known.count < TamperLog.capacity {
        if state.known.insert(row).inserted { state.untold.append(row) }
      }
    }
  }

  func take() -> [TamperedRow] {
    state.withLock { state in
      defer { state.untold = [] }
      return state.untold
    }
  }

  func putBack(_ rows: [TamperedRow]) {
    state.withLock { $0.untold = rows + $0.untold }
  }
}

extension TamperedRow {
  /// The audit line that reports the row as changed by an attacker or corrupt.
  func entry(at now: Instant) -> AuditEntry {
    AuditEntry(
      at: now, actor: .service, action: "row.tampered", subject: "\(table)/\(key)",
      outcome: .refused,
      detail: "the row does not carry the service's signature: it counts for nothing")
  }
}
