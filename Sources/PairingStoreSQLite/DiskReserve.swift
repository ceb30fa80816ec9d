import PairingStore
import RegentPlatform
import SQLite

/// The last part of the disk, which new codes, sign-ins, permits and registrations leave to sign-outs, operators and
/// upkeep.
///
/// Without it whoever fills the disk also keeps operators from ending what he did, and refusals from the audit log.
final class DiskReserve: Sendable {
  private struct State {
    var due: UInt64 = 0
    var isShort = false
  }

  /// Looked at so often at most, in nanoseconds: in that time a fast disk takes some megabytes.
  private static let pause: UInt64 = 500_000_000

  private let folder: String
  private let state = Locked(State())

  init(_ database: String) { folder = String(database[..<(database.lastIndex(of: "/") ?? database.startIndex)]) }

  /// The bytes of the reserve on a disk of this size.
  static func bytes(of size: Int64) -> Int64 { min(64 << 20, size / 10) }

  /// Whether nothing but the reserve is left; `spare` are the bytes in the file that hold nothing any more.
  func isShort(_ spare: () async throws -> Int64) async -> Bool {
    let now = Clocks.bootNanoseconds()
    let (isDue, last) = state.withLock { state in
      guard now >= state.due else { return (false, state.isShort) }
      // Whoever comes meanwhile gets the answer of the time before.
      state.due = now + Self.pause
      return (true, state.isShort)
    }
    guard isDue else { return last }
    // A disk that cannot be measured is no reason to refuse: writing shows whether there is room.
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
  /// Whether new codes, sign-ins, permits and registrations are refused for want of room.
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

  /// Refuses what may not use the reserve.
  func requireMoreThanReserve() async throws(StoreError) {
    if await isOnReserve { throw .diskFull }
  }
}
