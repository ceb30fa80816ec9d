internal import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Sign-ins that held polls were told of, until that is written down: a transaction for many, not for each.
final class Deliveries: Sendable {
  /// How long the first of them waits for others; the phone's "your screen is in" waits as long.
  private static let span = Duration.milliseconds(50)
  private let due = Locked<[AuthenticationID: AuthenticationRecord]>([:])

  /// Adds one, and has all that are there in a moment written by `write`.
  func add(
    _ record: AuthenticationRecord, _ write: @escaping @Sendable ([AuthenticationRecord]) async -> Void
  ) {
    let isFirst = due.withLock { due in
      defer { due[record.authentication.id] = record }
      return due.isEmpty
    }
    guard isFirst else { return }
    Task {
      try? await Task.sleep(for: Self.span)
      await write(takeAll())
    }
  }

  private func takeAll() -> [AuthenticationRecord] {
    due.withLock { due in
      defer { due = [:] }
      return Array(due.values)
    }
  }
}
