/// The life of one registration code: a pure state machine.
///
/// Events go in, a new value and the actions that go with it come out, or a refusal that changes nothing:
///
///     offered ──open──▶ opened ──claim──▶ claimed ──approve──▶ approved ──deliver──▶ delivered
///        │                 ▲                 │ │
///        └──claim (the page was not opened)──┤ └─deny, wrong number──▶ denied
///                          └────release──────┘
///     offered, opened, claimed ──approve by an operator──▶ approved
///     offered, opened, claimed ──time──▶ expired        any but expired ──withdraw──▶ withdrawn
///
/// A store runs this inside one transaction on the row it has just read (`PairingStore`), which makes "approve" the
/// one place where a code is redeemed, exactly once. Time is an argument: every process that looks at the same row at
/// the same time sees the same state, without anybody writing "expired"; nodes that share a store write it before they
/// tell it (``expiring(at:)``), because the yes of another may be on its way to the row.
public struct PairingFlow: Hashable, Sendable {
  /// When the device was given the code.
  public let issued: Instant

  /// When the code expires, unless somebody approves it.
  public let expires: Instant

  /// The number to compare, for a device that asked for number matching.
  public let match: NumberMatch?

  /// Where the code is, as of the last event: ask ``status(at:)`` for what holds now.
  public private(set) var state: PairingState

  /// Grows by one with every change that a waiting device could see.
  public private(set) var sequence: Int

  /// A code that has just been offered to a device.
  public init(issued: Instant, lifetime: CodeLifetime, match: NumberMatch? = nil) {
    self.init(
      issued: issued, expires: issued + lifetime.span, match: match, state: .offered, sequence: 1)
  }

  /// A code as a store kept it.
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
  /// Lets one event happen, or says why it may not.
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

  /// This flow with its expiry taken into account: a pending code whose time is up is expired, one step further.
  public func settled(at now: Instant) -> PairingFlow {
    guard state.isPending, now >= expires else { return self }
    return moved(to: .expired)
  }

  /// Writes down that the time is over, where somebody else could approve at this moment: where several nodes share a
  /// store, whoever comes to the row first decides.
  public func expiring(at now: Instant) -> PairingStep { PairingStep(settled(at: now), []) }

  /// The same code with another end.
  public func lasting(until end: Instant) -> PairingFlow {
    PairingFlow(issued: issued, expires: end, match: match, state: state, sequence: sequence)
  }

  /// What everybody is told about the code at this time.
  public func status(at now: Instant) -> PairingStatus {
    let flow = settled(at: now)
    // A lapsed lease holds nobody off, so it is not shown. Nothing waits for the lapse: the sequence stays.
    if case .claimed(let lease) = flow.state, lease.until <= now { return .opened }
    return flow.state.status
  }

  /// The number that the box shows: only after a phone has connected, so that a stranger's code shows none.
  public func visibleMatch(at now: Instant) -> NumberMatch? {
    switch status(at: now) {
    case .opened, .claimed: match
    default: nil
    }
  }
}

// MARK: - One function per event

extension PairingFlow {
  private func opening() throws(PairingRefusal) -> PairingStep {
    switch state {
    case .offered: return PairingStep(moved(to: .opened), [.wakeDevice])
    // The page may be loaded twice; the second open finds what the first one did.
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
    // The lease has lapsed, or its own session has signed in as somebody else.
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
    // Nothing to give back: a page that was left twice, or whose lease somebody has already ended.
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
      // One try among ninety numbers: each further one would make guessing easier.
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
    // An operator needs no lease; a second yes of theirs ends here.
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
      // A newer code replaces an unanswered one; an answer that was given stays readable.
      guard reason != .newerCode else { throw ended }
      return PairingStep(moved(to: .withdrawn), [.wakeDevice, .wakePhone])
    }
  }

  private func delivering(at now: Instant) throws(PairingRefusal) -> PairingStep {
    switch state {
    case .approved(let approval):
      return PairingStep(moved(to: .delivered(approval, at: now)), [.wakePhone])
    // The answer may have been lost on the way: a device reads as often as it likes.
    case .delivered: return PairingStep(self, [])
    case .offered, .opened, .claimed: throw .notApproved
    case .denied, .expired, .withdrawn: throw ended
    }
  }
}

// MARK: - Shared by the events

extension PairingFlow {
  /// The lease that this session holds now: what approving and denying stand on.
  ///
  /// Without it anybody who read the code off the screen could approve it, as in better-auth and django-oauth-toolkit.
  private func requireLease(of session: SessionID, at now: Instant) throws(PairingRefusal) -> ClaimLease {
    switch state {
    case .offered, .opened: throw .notClaimed
    case .claimed(let lease):
      guard lease.claimer.session == session else { throw .notTheClaimer }
      guard lease.until > now else { throw .leaseLapsed }
      return lease
    // Approved already, denied, expired or withdrawn: this is what stops a second approval by a viewer.
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

  /// A longer lease is nothing that a device could see: the sequence stays.
  private func extended(to lease: ClaimLease) -> PairingFlow {
    var flow = self
    flow.state = .claimed(lease)
    return flow
  }

  /// Why nothing more may happen to a code that has come to its end.
  private var ended: PairingRefusal {
    switch state {
    case .approved, .delivered: .alreadyApproved
    case .denied: .denied
    case .expired: .expired
    case .withdrawn: .withdrawn
    // Not reached: pending states are dealt with before.
    case .offered, .opened, .claimed: .notApproved
    }
  }
}
