import RegentPairing

// The slow among several services are waited for only a while.

extension Machine {
  /// Begins to wait for the others once one has answered: a service that says nothing must not hold up the app.
  mutating func wait(_ patience: inout Patience, whileOpen open: Set<CallID>) {
    guard !responders.isEmpty, !open.isEmpty, patience.timer == nil else { return }
    patience.start = now
    let rest = max(.milliseconds(1), settings.timing.straggler - patience.spent)
    patience.timer = startDeadline(rest)
  }

  /// What is left of it for the next step.
  mutating func spent(_ patience: Patience) -> Patience {
    drop(patience.timer)
    let waited = patience.start.map { max(.zero, now.since($0)) } ?? .zero
    return Patience(spent: patience.spent + waited)
  }

  /// The services that have not answered by now are left out.
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
