internal import RegentPlatform
package import PairingStore
internal import RegentPairing

/// Stores what viewers decide about the apps of a box, on the phone or on the box, and completes the box's long polls.
///
/// No other code may call the store's `decide`, because the box would not be told; `OwnerTests` enforces this.
package final class BoxDecisions: Sendable {
  private let store: any PlatformStore
  private let waiters: Waiters
  private let clock: ServiceClock
  /// The number of decision changes of all boxes together.
  ///
  /// Because it covers all boxes, a change of one box sometimes makes another box, which is about to wait, read the
  /// store again. That box finds no change and waits.
  private let changes = Locked<UInt64>(0)

  init(_ store: any PlatformStore, _ waiters: Waiters, clock: ServiceClock) {
    self.store = store
    self.clock = clock
    self.waiters = waiters
  }

  /// The number of decision changes so far.
  ///
  /// Callers read it before they read the store.
  ///
  /// If the number differs later, the caller may have missed a decision and must read the store again.
  package var changeCount: UInt64 { changes.withLock { $0 } }

  /// Stores a decision, and completes the box's long poll if the decision is the valid one now.
  ///
  /// `signed` is the box's signed text that has the decision, which counts once.
  ///
  /// - Throws: `notFound` when the box already has the maximum number of decisions.
  package func decide(
    _ decision: PlatformPermissionRecord, signed: UsedText? = nil, audit entry: AuditEntry?
  ) async throws(StoreError) {
    guard try await store.decide(decision, signed: signed, audit: entry, at: clock.now) else { return }
    noteChange(of: decision.device)
  }

  /// Notes that a decision about the apps of a box was stored, or that the box's sign-in ended, here or at another
  /// node.
  func noteChange(of device: DeviceHash) {
    noteChanges()
    waiters.wake(.device, of: .box(device))
  }

  /// Notes that decisions may have changed, when it is not known for which boxes.
  func noteChanges() { changes.withLock { $0 &+= 1 } }
}
