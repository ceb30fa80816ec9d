import CSQLite
import RegentPlatform
import Synchronization

/// Cuts short what a connection is doing, from any thread.
final class Interrupter: Sendable {
  // The address as a number: a pointer is not Sendable, and here it is only ever used under the lock.
  private let address: Monitor<UInt>
  private let cancelled = Atomic(false)

  init(_ handle: OpaquePointer) {
    address = Monitor(UInt(bitPattern: handle))
  }

  /// Whether the connection must start nothing new.
  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Refuses further statements and ends the running one.
  ///
  /// A statement that starts at this very moment may escape: the caller repeats this until the connection is idle.
  func cancel() {
    cancelled.store(true, ordering: .releasing)
    // Under the lock, so that the connection cannot be closed between the look and the call.
    address.withLock { address in
      guard let handle = unsafe OpaquePointer(bitPattern: address) else { return }
      unsafe sqlite3_interrupt(handle)
    }
  }

  /// Called just before the connection closes.
  func forget() {
    address.withLock { $0 = 0 }
  }
}
