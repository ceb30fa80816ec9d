import PairingStore
import RegentPlatform
import SQLite

/// A part of the disk that is reserved for sign-outs, operators' changes and upkeep.
///
/// When only this part is free, the store refuses new codes, sign-ins, permits and registrations.
///
/// Without the reserve, an attacker who fills the disk could keep operators from ending the attack, and keep refusals
/// out of the audit log.
final class DiskReserve: Sendable {
  private struct DiskReserveState {
    var due: UInt64 = 0
    var isShort = false
  }

  /// The shortest time between two measurements of the free disk space, in nanoseconds.
  ///
  /// A fast disk can write some megabytes in this time.
  private static let pause: UInt64 = 500_000_000

  private let folder: String
  private let state = Locked(DiskReserveState())

  init(_ database: String) { folder = String(database[..<(database.lastIndex(of: "/") ?? database.startIndex)]) }

  /// The size of the reserve in bytes, on a disk with `size` bytes.
  static func bytes(of size: Int64) -> Int64 { min(64 << 20, size / 10) }

  /// Whether the disk has no more free space than the reserve.
  ///
  /// `spare` returns the number of unused bytes inside the database file.
  func isShort(_ spare: () async throws -> Int64) async -> Bool {
    let now = Clocks.bootNanoseconds()
    let (isDue, last) = state.withLock { state in
      guard now >= state.due else { return (false, state.isShort) }
      // Callers that arrive while the free space is measured get the earlier result.
      state.due = now + Self.pause
      return (true, state.isShort)
    }
    guard isDue else { return last }
    // If the free space cannot be measured, nothing is refused. A failed write will show that the disk is full.
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

  /// Throws `diskFull` when the disk has no more free space than the reserve.
  func requireMoreThanReserve() async throws(StoreError) {
    if await isOnReserve { throw .diskFull }
  }
}
