package import HTTPServer
package import PairingStore
package import RegentPairing
internal import RegentPlatform

/// Replies that are held until something changes: `Prefer: wait`.
///
/// One lock owns them all. A waiter ends in exactly one way, and its closure is called once, outside the lock.
package final class Waiters: Sendable {
  /// What something can happen to.
  package enum Subject: Hashable, Sendable {
    case code(RegistrationID)
    /// What the viewer decides about the apps of a box.
    case box(DeviceHash)
  }

  /// Who waits, and for which answer.
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
    case record, authentication, check, poll, token, decisions
  }

  /// Why a wait ended.
  package enum End: Sendable {
    /// Something happened to it.
    case changed
    /// Its code was approved: with what was written, once it was durable.
    case approved(AuthenticationRecord)
    /// The time was up.
    case timeUp
    /// The same device asks again.
    case displaced
    /// The service stops.
    case stopping
  }

  /// One who waits: all that is kept for it, beside what its two closures hold.
  fileprivate struct Waiter: Sendable {
    let number: UInt64
    let place: Place
    let isStill: @Sendable () -> Bool
    let end: @Sendable (End) -> Void
  }

  /// Where a waiter is found; nothing is there any more when it has ended.
  fileprivate struct Ticket: Sendable {
    let subject: Subject
    let number: UInt64
  }

  fileprivate struct State {
    /// Who is taken out of here is ended by whoever took it out, and by nobody else.
    var waiting: [Subject: [Waiter]] = [:]
    var count = 0
    var numbers: UInt64 = 0
    /// Waiters by the tick in which their time is up; those that ended otherwise are skipped then.
    var deadlines: [Int64: [Ticket]] = [:]
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

  /// What devices wait for.
  var awaitedByDevices: [Subject] {
    state.withLock { state in
      state.waiting.filter { $0.value.contains { $0.place.side == .device } }.map(\.key)
    }
  }

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
    _ reply: PendingReply, for subject: Subject, _ place: Place, span: Duration,
    while isStill: @escaping @Sendable () -> Bool,
    end: @escaping @Sendable (End) -> Void
  ) {
    let deadline = (clock.uptime + span).milliseconds / Self.tick + 1
    let began = state.withLock { state -> Began? in
      guard !state.isStopping else { return nil }
      state.numbers &+= 1
      let ticket = Ticket(subject: subject, number: state.numbers)
      let displaced = state.take(subject) { $0.place == place }
      state.waiting[subject, default: []].append(
        Waiter(number: ticket.number, place: place, isStill: isStill, end: end))
      state.count += 1
      state.deadlines[deadline, default: []].append(ticket)
      state.entries += 1
      defer { state.isTicking = true }
      return Began(
        ticket: ticket, displaced: displaced.first, isFirst: !state.isTicking, isCrowded: state.isCrowded)
    }
    guard let began else { return end(.stopping) }
    began.displaced?.end(.displaced)
    if began.isCrowded { forgetWhatIsOver() }
    if began.isFirst { startTicking() }
    let ticket = began.ticket
    reply.onAbandoned { [weak self] in _ = self?.take(ticket) }
    guard isStill() else {
      take(ticket)?.end(.changed)
      return
    }
  }

  /// Something happened that one of the two can see: ends the waits there that have an answer now.
  package func wake(_ side: Side, of subject: Subject, with news: End = .changed) {
    let woken = state.withLock { state in
      state.take(subject) { $0.place.side == side && !$0.isStill() }
    }
    for waiter in woken { waiter.end(news) }
  }

  /// Something may have happened to anybody: ends the waits that have an answer now.
  package func wakeAll() {
    let woken = state.withLock { state in
      state.waiting.keys.flatMap { subject in state.take(subject) { !$0.isStill() } }
    }
    for waiter in woken { waiter.end(.changed) }
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
    for waiter in all { waiter.end(.stopping) }
  }

  /// Whether new ones are held; those that are not are answered as when the service stops.
  package func takes(_ isOpen: Bool) { state.withLock { $0.isStopping = !isOpen } }

  /// Answers some of them as when the service stops.
  ///
  /// - Returns: whether anybody waits still.
  package func letGo(_ most: Int) -> Bool {
    let (some, isMore) = state.withLock { state in
      let tickets = state.waiting.lazy.flatMap { subject, waiters in
        waiters.map { Ticket(subject: subject, number: $0.number) }
      }.prefix(most)
      let some = Array(tickets).compactMap { state.take($0) }
      return (some, state.count > 0)
    }
    for waiter in some { waiter.end(.stopping) }
    return isMore
  }

  private func take(_ ticket: Ticket) -> Waiter? {
    state.withLock { $0.take(ticket) }
  }

  private func forgetWhatIsOver() {
    state.withLock { state in
      guard state.isCrowded else { return }
      let waiting = state.waiting
      state.deadlines = state.deadlines.compactMapValues { tickets in
        let going = tickets.filter { ticket in
          waiting[ticket.subject]?.contains { $0.number == ticket.number } == true
        }
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
      let tickets = passed.flatMap { state.deadlines.removeValue(forKey: $0) ?? [] }
      state.entries -= tickets.count
      state.isTicking = !state.deadlines.isEmpty
      return (tickets.compactMap { state.take($0) }, state.isTicking)
    }
    for waiter in due { waiter.end(.timeUp) }
    return goesOn
  }

  /// What became of a new wait.
  private struct Began {
    let ticket: Ticket
    let displaced: Waiter?
    let isFirst: Bool
    let isCrowded: Bool
  }
}

extension Waiters.State {
  /// Takes out those at one place for whom `isMeant` holds.
  fileprivate mutating func take(
    _ subject: Waiters.Subject, where isMeant: (Waiters.Waiter) -> Bool
  ) -> [Waiters.Waiter] {
    guard let here = waiting[subject] else { return [] }
    let taken = here.filter(isMeant)
    guard !taken.isEmpty else { return [] }
    let rest = here.filter { waiter in !taken.contains { $0.number == waiter.number } }
    waiting[subject] = rest.isEmpty ? nil : rest
    count -= taken.count
    return taken
  }

  fileprivate mutating func take(_ ticket: Waiters.Ticket) -> Waiters.Waiter? {
    take(ticket.subject) { $0.number == ticket.number }.first
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
