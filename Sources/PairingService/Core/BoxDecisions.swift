internal import RegentPlatform
package import PairingStore
internal import RegentPairing

/// Stores what viewers decide about the apps of a box, on the phone or on the box, and wakes the held requests of the
/// box.
///
/// No other code may call the store's `decide`, because it would not wake the box; `OwnerTests` enforces this.
package final class BoxDecisions: Sendable {
  private let store: any PlatformStore
  private let waiters: Waiters
  private let clock: ServiceClock
  /// Counts the changes of all boxes together.
  ///
  /// A box that is about to wait therefore sometimes reads the store again because of another box's change; it finds
  /// nothing new and waits.
  private let changes = Locked<UInt64>(0)

  init(_ store: any PlatformStore, _ waiters: Waiters, clock: ServiceClock) {
    self.store = store
    self.clock = clock
    self.waiters = waiters
  }

  /// Read this before reading the store.
  ///
  /// If the number differs later, a decision may have been missed and the store must be read again.
  package var changeCount: UInt64 { changes.withLock { $0 } }

  package func decide(
    _ decision: PlatformPermissionRecord, audit entry: AuditEntry?
  ) async throws(StoreError) {
    guard try await store.decide(decision, audit: entry, at: clock.now) else { return }
    noteChange(of: decision.device)
  }

  /// Call this when a decision about the apps of a box was stored, or the box's sign-in ended, here or at another node.
  func noteChange(of device: DeviceHash) {
    noteChanges()
    waiters.wake(.device, of: .box(device))
  }

  /// Call this when decisions may have changed but it is not known for which boxes.
  func noteChanges() { changes.withLock { $0 &+= 1 } }
}
