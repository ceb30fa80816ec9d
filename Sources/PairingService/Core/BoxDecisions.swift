internal import RegentPlatform
package import PairingStore
internal import RegentPairing

/// Keeps what viewers decide about the apps of a box, from whichever side it comes, and tells the box that waits.
///
/// No other code calls the store's verb, which `ArchitectureTests` hold: a box that waits would not hear of it.
package final class BoxDecisions: Sendable {
  private let store: any PlatformStore
  private let waiters: Waiters
  private let clock: ServiceClock
  /// One number for all boxes: a box that is about to wait looks again when another's changed, and finds nothing new.
  private let changes = Locked<UInt64>(0)

  init(_ store: any PlatformStore, _ waiters: Waiters, clock: ServiceClock) {
    self.store = store
    self.clock = clock
    self.waiters = waiters
  }

  /// To be read before the store is: whoever finds another number later has to look again.
  package var changeCount: UInt64 { changes.withLock { $0 } }

  package func decide(
    _ decision: PlatformPermissionRecord, audit entry: AuditEntry?
  ) async throws(StoreError) {
    guard try await store.decide(decision, audit: entry, at: clock.now) else { return }
    noteChange(of: decision.device)
  }

  /// Something was decided about the apps of a box, or its sign-in has ended, here or at another node.
  func noteChange(of device: DeviceHash) {
    noteChanges()
    waiters.wake(.device, of: .box(device))
  }

  /// Nobody knows of which boxes.
  func noteChanges() { changes.withLock { $0 &+= 1 } }
}
