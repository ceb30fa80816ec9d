internal import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Collects the sign-ins that were handed to held polls until they are written to the store, so that many share one
/// transaction.
final class DeliveryRecorder: Sendable {
  /// How long the first sign-in waits for others.
  ///
  /// The phone's message that the screen is signed in is delayed by the same time.
  private static let span = Duration.milliseconds(50)
  private let due = Locked<[AuthenticationID: AuthenticationRecord]>([:])

  /// Adds a sign-in.
  ///
  /// `write` is called once, 50 ms after the first one, with all that have been added by then.
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
