import RegentPairing

// Limits how long the enabler waits for slow services after another has answered.

extension EnablerStateMachine {
  /// Starts the timer once a service has answered, so that a service that does not answer does not block the app.
  mutating func wait(_ patience: inout Patience, whileOpen open: Set<CallID>) {
    guard !responders.isEmpty, !open.isEmpty, patience.timer == nil else { return }
    patience.start = now
    let rest = max(.milliseconds(1), settings.timing.straggler - patience.spent)
    patience.timer = startDeadline(rest)
  }

  /// Stops the timer that limits waiting for slow services, and returns what is left of the time limit for the next
  /// step.
  mutating func spent(_ patience: Patience) -> Patience {
    drop(patience.timer)
    let waited = patience.start.map { max(.zero, now.since($0)) } ?? .zero
    return Patience(spent: patience.spent + waited)
  }

  /// Continues without the services that have not answered in time.
  mutating func patienceEnded(_ timer: TimerID) {
    switch phase {
    case .configuring(var configuring) where configuring.patience.timer == timer:
      for call in configuring.open.sorted(by: { $0.number < $1.number }) {
        drop(call)
        configuring.failures.append(Self.straggling)
      }
      configuring.open = []
      phase = .configuring(configuring)
      endConfigurationIfDone()
    case .synchronizing(var synchronizing) where synchronizing.patience.timer == timer:
      for call in synchronizing.open.sorted(by: { $0.number < $1.number }) { drop(call) }
      synchronizing.open = []
      phase = .synchronizing(synchronizing)
      endSynchronizationIfDone()
    default: break
    }
  }

  private static let straggling = ServiceFailure(
    kind: .unreachable, message: "a service took much longer than the others")
}
