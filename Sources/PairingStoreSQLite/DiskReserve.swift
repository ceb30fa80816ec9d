import PairingStore
import RegentPlatform
import SQLite

/// The last part of the disk, in which the store still accepts sign-outs, operators' changes and upkeep, but no new
/// codes, sign-ins, permits and registrations.
///
/// Without the reserve, an attacker who fills the disk could also keep operators from ending the attack, and refusals
/// from being written to the audit log.
final class DiskReserve: Sendable {
  private struct DiskReserveState {
    var due: UInt64 = 0
    var isShort = false
  }

  /// The shortest time between two measurements, in nanoseconds.
  ///
  /// A fast disk can write some megabytes in it.
  private static let pause: UInt64 = 500_000_000

  private let folder: String
  private let state = Locked(DiskReserveState())

  init(_ database: String) { folder = String(database[..<(database.lastIndex(of: "/") ?? database.startIndex)]) }

  /// The size of the reserve, in bytes, on a disk of this size.
  static func bytes(of size: Int64) -> Int64 { min(64 << 20, size / 10) }

  /// Whether only the reserve is left.
  ///
  /// `spare` returns the number of unused bytes inside the database file.
  func isShort(_ spare: () async throws -> Int64) async -> Bool {
    let now = Clocks.bootNanoseconds()
    let (isDue, last) = state.withLock { state in
      guard now >= state.due else { return (false, state.isShort) }
      // Callers that arrive during the measurement get the earlier result.
      state.due = now + Self.pause
      return (true, state.isShort)
    }
    guard isDue else { return last }
    // If the disk cannot be measured, nothing is refused: a failed write will show that it is full.
    guard let space = try? DiskSpace(at: folder.isEmpty ? "." : folder) else { return false }
    let reserve = Self.bytes(of: space.size)
    var isShort = space.free < reserve
    if isShort, let spare = try? await spare() { isShort = space.free + spare < reserve }
    let found = isShort
    state.withLock { $0.isShort = found }
    return found
  }
}

extension SQLiteStore {
  /// Whether new codes, sign-ins, permits and registrations are refused because the disk is nearly full.
  public var isOnReserve: Bool {
    get async {
      await reserve.isShort { [database] in
        try await database.read { context in
          let pages: Int64 = try context.value("PRAGMA freelist_count") ?? 0
          let size: Int64 = try context.value("PRAGMA page_size") ?? 0
          return pages * size
        }
      }
    }
  }

  /// Throws `diskFull` when only the reserve is left.
  func requireMoreThanReserve() async throws(StoreError) {
    if await isOnReserve { throw .diskFull }
  }
}
