package import HTTPServer
package import RegentPairing
internal import RegentPlatform

/// Replies that are held until something changes: `Prefer: wait`.
///
/// One lock owns them all. A waiter ends in exactly one way, and its closure is called once, outside the lock.
package final class Waiters: Sendable {
  /// Who waits for a code, and for which answer.
  package enum Place: Hashable, Sendable {
    /// A device; the newest request of a caller for one resource displaces its older one, and nobody else's.
    case device(Resource, Caller)
    /// A phone's page; many may look at one result.
    case phone(Int)
  }

  /// Who waits where the device does.
  package enum Caller: Hashable, Sendable {
    /// The device that made the code, as far as its id says so.
    case owner
    /// Somebody else who knows the code, at an address: a login page, or a box that names no device.
    case other(SourceKey?)
  }

  /// Which of the two looks at a code.
  package enum Side: Sendable {
    case device, phone
  }

  /// What a device waits for.
  package enum Resource: Hashable, Sendable {
    case record, authentication, check, poll
  }

  /// Why a wait ended.
  package enum End: Sendable {
    /// Something happened to the code.
    case changed
    /// The time was up.
    case timeUp
    /// The same device asks again.
    case displaced
    /// The service stops.
    case stopping
  }

  private final class Waiter: Sendable {
    let registration: RegistrationID
    let place: Place
    let isStill: @Sendable () -> Bool
    /// Nil once it has ended.
    let end: Locked<(@Sendable (End) -> Void)?>

    init(
      _ registration: RegistrationID, _ place: Place, while isStill: @escaping @Sendable () -> Bool,
      _ end: @escaping @Sendable (End) -> Void
    ) {
      self.isStill = isStill
      self.registration = registration
      self.place = place
      self.end = Locked(end)
    }

    func finish(_ reason: End) {
      let end = end.withLock { end in
        defer { end = nil }
        return end
      }
      end?(reason)
    }

    var isOver: Bool { end.withLock { $0 == nil } }
  }

  private struct State {
    var waiting: [RegistrationID: [Waiter]] = [:]
    var count = 0
    /// Waiters by the tick in which their time is up; those that ended otherwise are skipped then.
    var deadlines: [Int64: [Waiter]] = [:]
    /// How many there are in `deadlines`.
    var entries = 0
    /// A caller who waits anew again and again leaves an entry each time: they must not add up until their time comes.
    var isCrowded: Bool { entries > 2 * count + 1_024 }
    var isTicking = false
    var isStopping = false
    var phones = 0
  }

  /// How precisely a wait ends; a hundredth of the shortest useful wait.
  private static let tick: Int64 = 50
  private let state = Locked(State())
  private let clock: ServiceClock

  /// Nobody waits.
  package init(clock: ServiceClock) { self.clock = clock }

  /// How many wait now.
  package var count: Int { state.withLock { $0.count } }

  /// How many waits are remembered for the time when they end, those among them that are over.
  package var entries: Int { state.withLock { $0.entries } }

  /// A place for a page that waits.
  package func phonePlace() -> Place {
    state.withLock { state in
      state.phones &+= 1
      return .phone(state.phones)
    }
  }

  /// Holds a reply until `isStill` says that there is something new, or the time is up; `end` completes it, once.
  ///
  /// `isStill` is asked at every change, and once more when the waiter is in place: a change between the look that
  /// decided to wait and that moment would be missed otherwise.
  package func park(
    _ reply: PendingReply, for registration: RegistrationID, _ place: Place, span: Duration,
    while isStill: @escaping @Sendable () -> Bool,
    end: @escaping @Sendable (End) -> Void
  ) {
    let waiter = Waiter(registration, place, while: isStill, end)
    let deadline = (clock.uptime + span).milliseconds / Self.tick + 1
    let (displaced, starts, isCrowded, refused) = state.withLock { state -> (Waiter?, Bool, Bool, Bool) in
      guard !state.isStopping else { return (nil, false, false, true) }
      var here = state.waiting[registration] ?? []
      let displaced = here.firstIndex { $0.place == place }.map { here.remove(at: $0) }
      here.append(waiter)
      state.waiting[registration] = here
      if displaced == nil { state.count += 1 }
      state.deadlines[deadline, default: []].append(waiter)
      state.entries += 1
      defer { state.isTicking = true }
      return (displaced, !state.isTicking, state.isCrowded, false)
    }
    guard !refused else { return waiter.finish(.stopping) }
    displaced?.finish(.displaced)
    if isCrowded { forgetWhatIsOver() }
    if starts { startTicking() }
    reply.onAbandoned { [weak self] in
      self?.remove(waiter)
      waiter.end.withLock { $0 = nil }
    }
    guard isStill() else { return finish(waiter, .changed) }
  }

  /// Something happened to a code that one of the two can see: ends the waits there that have an answer now.
  package func wake(_ side: Side, of registration: RegistrationID) {
    let woken = state.withLock { state -> [Waiter] in
      guard let here = state.waiting[registration] else { return [] }
      let woken = here.filter { $0.place.side == side && !$0.isStill() }
      guard !woken.isEmpty else { return [] }
      let rest = here.filter { waiter in !woken.contains { $0 === waiter } }
      state.waiting[registration] = rest.isEmpty ? nil : rest
      state.count -= woken.count
      return woken
    }
    for waiter in woken { waiter.finish(.changed) }
  }

  /// Answers everybody, now and from now on at once.
  package func stop() {
    let all = state.withLock { state in
      state.isStopping = true
      defer { state.waiting = [:] }
      state.count = 0
      state.deadlines = [:]
      state.entries = 0
      return state.waiting.values.flatMap(\.self)
    }
    for waiter in all { waiter.finish(.stopping) }
  }

  private func finish(_ waiter: Waiter, _ end: End) {
    remove(waiter)
    waiter.finish(end)
  }

  private func remove(_ waiter: Waiter) {
    state.withLock { state in
      guard var here = state.waiting[waiter.registration],
        let index = here.firstIndex(where: { $0 === waiter })
      else { return }
      here.remove(at: index)
      state.waiting[waiter.registration] = here.isEmpty ? nil : here
      state.count -= 1
    }
  }

  private func forgetWhatIsOver() {
    state.withLock { state in
      guard state.isCrowded else { return }
      state.deadlines = state.deadlines.compactMapValues { waiters in
        let going = waiters.filter { !$0.isOver }
        return going.isEmpty ? nil : going
      }
      state.entries = state.deadlines.values.reduce(0) { $0 + $1.count }
    }
  }

  /// Looks for waits whose time is up, while there are any.
  private func startTicking() {
    Task { [weak self] in
      while let self, self.endDue() {
        try? await Task.sleep(for: .milliseconds(Self.tick))
      }
    }
  }

  /// - Returns: whether anybody waits still.
  private func endDue() -> Bool {
    let now = clock.uptime.milliseconds / Self.tick
    let (due, goesOn) = state.withLock { state -> ([Waiter], Bool) in
      let passed = state.deadlines.keys.filter { $0 <= now }
      let due = passed.flatMap { state.deadlines.removeValue(forKey: $0) ?? [] }
      state.entries -= due.count
      state.isTicking = !state.deadlines.isEmpty
      return (due, state.isTicking)
    }
    for waiter in due where !waiter.isOver { finish(waiter, .timeUp) }
    return goesOn
  }
}

extension Waiters.Place {
  fileprivate var side: Waiters.Side {
    switch self {
    case .device: .device
    case .phone: .phone
    }
  }
}
