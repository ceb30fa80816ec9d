internal import RegentPlatform

/// Empties this node of long polls before an operator stops it or its machine.
///
/// While the node drains, it answers new requests at once and closes their connections. The box then reconnects through
/// the load balancer, which has seen `/readyz` and uses another node. The waiting long polls are ended step by step.
package final class Drain: Sendable {
  /// The number of steps, of a tenth of a second each, in which the long polls are ended: eight seconds.
  private static let steps = 80
  private let state = Locked(false)
  private let waiters: Waiters

  init(_ waiters: Waiters) { self.waiters = waiters }

  package var isOn: Bool { state.withLock { $0 } }

  /// Starts or ends the draining of this node.
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
