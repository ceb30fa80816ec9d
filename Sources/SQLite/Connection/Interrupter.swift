import CSQLite
import RegentPlatform
import Synchronization

/// Interrupts the statement that a connection is running, from any thread.
final class Interrupter: Sendable {
  // The pointer as a number, because pointers are not Sendable. It is used only under the lock.
  private let address: Monitor<UInt>
  private let cancelled = Atomic(false)

  init(_ handle: OpaquePointer) {
    address = Monitor(UInt(bitPattern: handle))
  }

  /// Whether the connection must not start any more statements.
  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Refuses further statements and interrupts the running one.
  ///
  /// A statement that starts at the same moment may not be interrupted, so the caller repeats this until the connection
  /// is idle.
  func cancel() {
    cancelled.store(true, ordering: .releasing)
    // The interrupt is under the lock, so that the connection is not closed between the check and the interrupt.
    address.withLock { address in
      guard let handle = unsafe OpaquePointer(bitPattern: address) else { return }
      unsafe sqlite3_interrupt(handle)
    }
  }

  /// Forgets the connection, so that `cancel` no longer uses it.
  ///
  /// Must be called before the connection is closed.
  func forget() {
    address.withLock { $0 = 0 }
  }
}
