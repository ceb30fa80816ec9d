internal import RegentPlatform

/// Empties this node of held requests before an operator stops it or its machine.
///
/// While draining, new requests are not held: they are answered at once, and their connection is closed, so that the
/// box reconnects through the load balancer, which has seen `/readyz` and uses another node. The held requests are
/// ended step by step.
package final class Drain: Sendable {
  /// The held requests are ended in this many steps of a tenth of a second: eight seconds.
  private static let steps = 80
  private let state = Locked(false)
  private let waiters: Waiters

  init(_ waiters: Waiters) { self.waiters = waiters }

  package var isOn: Bool { state.withLock { $0 } }

  /// Starts or ends draining.
  ///
  /// Setting the same value again has no effect.
  package func set(_ isOn: Bool) {
    let isNew = state.withLock { state in
      defer { state = isOn }
      return state != isOn
    }
    guard isNew else { return }
    waiters.takes(!isOn)
    guard isOn else { return }
    let each = waiters.count / Self.steps + 1
    Task {
      while self.isOn, waiters.letGo(each) { try? await Task.sleep(for: .milliseconds(100)) }
    }
  }
}
