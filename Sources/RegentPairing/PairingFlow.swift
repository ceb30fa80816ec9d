/// The state machine of one registration code, without I/O.
///
/// An event gives a new value and the actions that the caller must carry out, or a refusal that changes nothing:
///
///     offered ──open──▶ opened ──claim──▶ claimed ──approve──▶ approved ──deliver──▶ delivered
///        │                 ▲                 │ │
///        └──claim (the page was not opened)──┤ └─deny, wrong number──▶ denied
///                          └────release──────┘
///     offered, opened, claimed ──approve by an operator──▶ approved
///     offered, opened, claimed ──time──▶ expired        any but expired ──withdraw──▶ withdrawn
///
/// A store (`PairingStore`) applies an event inside one transaction to the row that it has just read. So a code is
/// approved exactly once.
///
/// The time is an argument. All processes that read a row at the same time see the same state, and no process has to
/// store "expired". The exception are nodes with a shared store: they store the expiry before they report it
/// (``expiring(at:)``), because another node may be storing an approval at that moment.
public struct PairingFlow: Hashable, Sendable {
  /// When the service gave the code to the device.
  public let issued: Instant

  /// When the code expires unless the viewer approves it before.
  public let expires: Instant

  /// The number that the viewer must type, if the device requires number matching.
  public let match: NumberMatch?

  /// The state after the last event; ``status(at:)`` returns the state now, which includes expiry.
  public private(set) var state: PairingState

  /// Increases by one with each change that a waiting device can see.
  public private(set) var sequence: Int

  /// Creates a new code that the service offers to a device.
  public init(issued: Instant, lifetime: CodeLifetime, match: NumberMatch? = nil) {
    self.init(
      issued: issued, expires: issued + lifetime.span, match: match, state: .offered, sequence: 1)
  }

  /// Restores a code from stored values.
  public init(
    issued: Instant, expires: Instant, match: NumberMatch?, state: PairingState, sequence: Int
  ) {
    self.issued = issued
    self.expires = expires
    self.match = match
    self.state = state
    self.sequence = sequence
  }
}

extension PairingFlow {
  /// Applies one event and returns the new state with its actions, or throws the reason why the event is refused.
  public func applying(_ event: PairingEvent, at now: Instant) throws(PairingRefusal) -> PairingStep {
    let flow = settled(at: now)
    switch event {
    case .open: return try flow.opening()
    case .claim(let claimer): return try flow.claiming(by: claimer, at: now)
    case .renew(let session): return try flow.renewing(by: session, at: now)
    case .release(let session): return try flow.releasing(by: session)
    case .approve(let session, let picked, let authentication):
      return try flow.approving(by: session, picked: picked, as: authentication, at: now)
    case .approveByOperator(let name, let viewer, let authentication):
      return try flow.approving(by: name, for: viewer, as: authentication, at: now)
    case .deny(let session): return try flow.denying(by: session, at: now)
    case .withdraw(let reason): return try flow.withdrawing(reason)
    case .deliver: return try flow.delivering(at: now)
    }
  }

  /// This flow with expiry applied: a pending code after its expiry becomes expired, with the next sequence number.
  public func settled(at now: Instant) -> PairingFlow {
    guard state.isPending, now >= expires else { return self }
    return moved(to: .expired)
  }

  /// Makes the expiry of this code a change of state that a node writes to the store.
  ///
  /// Nodes share the store, and the first write decides: an approval or the expiry.
  public func expiring(at now: Instant) -> PairingStep { PairingStep(settled(at: now), []) }

  /// Returns the same code with another expiry.
  public func lasting(until end: Instant) -> PairingFlow {
    PairingFlow(issued: issued, expires: end, match: match, state: state, sequence: sequence)
  }

  /// The state that the service reports at this time.
  public func status(at now: Instant) -> PairingStatus {
    let flow = settled(at: now)
    // After the lease has ended, another session may claim the code, so the state is shown as opened. No client waits
    // for that change, so the sequence stays the same.
    if case .claimed(let lease) = flow.state, lease.until <= now { return .opened }
    return flow.state.status
  }

  /// The number that the box shows now; nil until a phone has opened the page, so that an attacker who sends the code
  /// in a message cannot put the number into the same message.
  public func visibleMatch(at now: Instant) -> NumberMatch? {
    switch status(at: now) {
    case .opened, .claimed: match
    default: nil
    }
  }
}

// MARK: - The transition for each event

extension PairingFlow {
  private func opening() throws(PairingRefusal) -> PairingStep {
    switch state {
    case .offered: return PairingStep(moved(to: .opened), [.wakeDevice])
    // The phone may load the page twice. The second load changes nothing.
    case .opened, .claimed: return PairingStep(self, [])
    default: throw ended
    }
  }

  private func claiming(by claimer: Claimer, at now: Instant) throws(PairingRefusal) -> PairingStep {
    let lease = ClaimLease(claimer: claimer, until: now + ClaimLease.span)
    switch state {
    case .offered, .opened: return PairingStep(moved(to: .claimed(lease)), [.wakeDevice])
    case .claimed(let held) where held.until > now && held.claimer == claimer:
      return PairingStep(extended(to: lease), [])
    case .claimed(let held) where held.until > now && held.claimer.session != claimer.session:
      throw .claimedByAnother(until: held.until)
    // The lease has ended, or the session has signed in as another viewer.
    case .claimed: return PairingStep(moved(to: .claimed(lease)), [.wakeDevice])
    default: throw ended
    }
  }

  private func renewing(by session: SessionID, at now: Instant) throws(PairingRefusal)
    -> PairingStep
  {
    let lease = try requireLease(of: session, at: now)
    return PairingStep(
      extended(to: ClaimLease(claimer: lease.claimer, until: now + ClaimLease.span)), [])
  }

  private func releasing(by session: SessionID) throws(PairingRefusal) -> PairingStep {
    switch state {
    // There is no claim to release: the browser reported twice that the viewer left the page, or the claim had ended.
    case .offered, .opened: return PairingStep(self, [])
    case .claimed(let lease):
      guard lease.claimer.session == session else { throw .notTheClaimer }
      return PairingStep(moved(to: .opened), [.wakeDevice])
    default: throw ended
    }
  }

  private func approving(
    by session: SessionID, picked: Int?, as authentication: AuthenticationID, at now: Instant
  ) throws(PairingRefusal) -> PairingStep {
    let lease = try requireLease(of: session, at: now)
    if let match {
      guard let picked else { throw .numberMissing }
      // The viewer typed a wrong number and has only one try. With more tries it would be easier to guess one of the
      // ninety numbers.
      guard picked == match.number else {
        return PairingStep(
          moved(to: .denied(Denial(reason: .wrongNumber, at: now))), [.wakeDevice, .wakePhone])
      }
    }
    return approved(
      Approval(
        viewer: lease.claimer.viewer, authentication: authentication, by: .session(session), at: now
      ))
  }

  private func approving(
    by name: OperatorName, for viewer: Viewer, as authentication: AuthenticationID, at now: Instant
  ) throws(PairingRefusal) -> PairingStep {
    // An operator needs no claim. A second approval is refused here.
    guard state.isPending else { throw ended }
    return approved(
      Approval(viewer: viewer, authentication: authentication, by: .operator(name), at: now))
  }

  private func denying(by session: SessionID, at now: Instant) throws(PairingRefusal) -> PairingStep {
    _ = try requireLease(of: session, at: now)
    return PairingStep(
      moved(to: .denied(Denial(reason: .viewer, at: now))), [.wakeDevice, .wakePhone])
  }

  private func withdrawing(_ reason: WithdrawalReason) throws(PairingRefusal) -> PairingStep {
    switch state {
    case .offered, .opened, .claimed:
      return PairingStep(moved(to: .withdrawn), [.wakeDevice, .wakePhone])
    case .withdrawn: return PairingStep(self, [])
    case .expired: throw .expired
    case .approved, .delivered, .denied:
      // A new code replaces only a pending one. If the code was answered, the device can still read its result.
      guard reason != .newerCode else { throw ended }
      return PairingStep(moved(to: .withdrawn), [.wakeDevice, .wakePhone])
    }
  }

  private func delivering(at now: Instant) throws(PairingRefusal) -> PairingStep {
    switch state {
    case .approved(let approval):
      return PairingStep(moved(to: .delivered(approval, at: now)), [.wakePhone])
    // The response with the result may have been lost, so a device may read its result several times.
    case .delivered: return PairingStep(self, [])
    case .offered, .opened, .claimed: throw .notApproved
    case .denied, .expired, .withdrawn: throw ended
    }
  }
}

// MARK: - Helpers of the transitions

extension PairingFlow {
  /// Returns the lease on the code that this session holds now, which approving and denying require.
  ///
  /// Without it, an attacker who reads the code off the screen could approve it, as in better-auth and
  /// django-oauth-toolkit.
  private func requireLease(of session: SessionID, at now: Instant) throws(PairingRefusal) -> ClaimLease {
    switch state {
    case .offered, .opened: throw .notClaimed
    case .claimed(let lease):
      guard lease.claimer.session == session else { throw .notTheClaimer }
      guard lease.until > now else { throw .leaseLapsed }
      return lease
    // The code is already approved, denied, expired or withdrawn. This refuses a second approval by a viewer.
    default: throw ended
    }
  }

  private func approved(_ approval: Approval) -> PairingStep {
    PairingStep(
      moved(to: .approved(approval)), [.createAuthentication(approval), .wakeDevice, .wakePhone])
  }

  private func moved(to state: PairingState) -> PairingFlow {
    PairingFlow(
      issued: issued, expires: expires, match: match, state: state, sequence: sequence + 1)
  }

  /// Extends the lease; the sequence stays the same, because a device cannot see the lease.
  private func extended(to lease: ClaimLease) -> PairingFlow {
    var flow = self
    flow.state = .claimed(lease)
    return flow
  }

  /// The refusal for an event on a code that is no longer pending.
  private var ended: PairingRefusal {
    switch state {
    case .approved, .delivered: .alreadyApproved
    case .denied: .denied
    case .expired: .expired
    case .withdrawn: .withdrawn
    // Never reached: callers handle the pending states before they use this property.
    case .offered, .opened, .claimed: .notApproved
    }
  }
}
