internal import RegentPlatform

/// Whether operators want this node to be free of held replies, before it is stopped or its machine is.
///
/// It takes no new ones: each is answered at once, with the end of its connection, so that the box comes back where the
/// load balancer sends it, which has read `/readyz`. Those that it holds are handed over by and by.
package final class Drain: Sendable {
  /// All are handed over within so many steps of a tenth of a second: eight seconds.
  private static let steps = 80
  private let state = Locked(false)
  private let waiters: Waiters

  init(_ waiters: Waiters) { self.waiters = waiters }

  package var isOn: Bool { state.withLock { $0 } }

  /// Begins or ends it; the same again changes nothing.
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
