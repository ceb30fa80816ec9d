internal import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Collects the sign-ins that were sent in responses to long polls until the store records their delivery, so that many
/// share one transaction.
final class DeliveryRecorder: Sendable {
  /// How long the first delivered sign-in waits for others before it is written.
  ///
  /// The phone's message that the screen is signed in is delayed by the same time.
  private static let span = Duration.milliseconds(50)
  private let due = Locked<[AuthenticationID: AuthenticationRecord]>([:])

  /// Adds a delivered sign-in.
  ///
  /// `write` is called once, 50 ms after the first sign-in was added, with all sign-ins that were added by then.
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
