import Administration
import CommandKit
import Glibc
import PairingService
import PairingStore
import RegentPlatform
import SQLite

/// A copy of the database that waits to be downloaded over the admin socket.
struct WaitingCopy {
  let entry: BackupEntry
  let path: String

  /// A part of the copy, at most `limit` bytes; empty after the end.
  func part(from offset: Int64, limit: Int) throws(AdminError) -> [UInt8] {
    do throws(SystemError) {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
      return try file.read(atMost: limit, at: offset, from: path)
    } catch {
      throw AdminError(.failed, error.description, hint: error.hint)
    }
  }
}

extension WaitingCopy? {
  /// Returns this copy if it has the id that the client sent; throws otherwise.
  func named(_ id: String) throws(AdminError) -> WaitingCopy {
    guard let copy = self, copy.entry.id == id else {
      throw AdminError(
        .notFound, "the backup \(id) no longer exists",
        hint: "a newer backup replaced it, or the service restarted; run regentctl backup FILE again")
    }
    return copy
  }
}

/// Allows one copy or one change of the master key at a time.
///
/// Two copies would compete for the disk, two changes for the key file.
final class MaintenanceLock: Sendable {
  private let isTaken = Locked(false)

  /// Runs `work`, or throws if another call is running.
  ///
  /// This check is needed because an actor admits other calls while it awaits.
  func take<Value>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws(AdminError) -> Value
  ) async throws(AdminError) -> Value {
    let isOurs = isTaken.withLock { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
    guard isOurs else {
      throw AdminError(
        .unavailable, "another backup is being made, or the master key is being changed",
        hint: "run the command again in a minute")
    }
    defer { isTaken.withLock { $0 = false } }
    return try await work()
  }
}

extension AdminError {
  /// Creates the error that explains why a copy failed.
  init(copying error: any Error) { self.init(.failed, copySentence(error), hint: copyHint(error)) }
}

private func copySentence(_ error: any Error) -> String {
  if isFull(error) { return "the disk is full: there is no space for the copy, and none was kept" }
  return explained(error)?.message ?? (error as? FileError)?.description
    ?? (error as? BackupFailure)?.description ?? "\(error)"
}

private func copyHint(_ error: any Error) -> String? {
  if isFull(error) { return "free as much space as the database uses; it is copied beside the original" }
  return explained(error)?.hint ?? (error as? FileError)?.hint ?? (error as? BackupFailure)?.hint
}

private func isFull(_ error: any Error) -> Bool {
  switch error {
  case let error as StoreError: error == .diskFull
  case let error as SQLiteError: error.code.primary == .full
  case DatabaseFailure.diskFull: true
  case let error as SystemError: error.isFull
  case let error as FileError: if case .system(let cause) = error.kind { cause.isFull } else { false }
  default: false
  }
}
