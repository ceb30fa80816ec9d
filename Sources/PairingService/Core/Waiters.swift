package import HTTPServer
package import PairingStore
package import RegentPairing
internal import RegentPlatform

/// Holds replies until something changes (`Prefer: wait`).
///
/// One lock protects all waiters. A waiter ends in exactly one way, and its closure is called once, outside the lock.
package final class Waiters: Sendable {
  /// What a waiter waits for.
  package enum Subject: Hashable, Sendable {
    case code(RegistrationID)
    /// The viewer's decisions about the apps of a box.
    case box(DeviceHash)
  }

  /// Which client waits, and for which response.
  package enum Place: Hashable, Sendable {
    /// A device. A new request for the same resource by the same caller ends the earlier one of that caller, and no
    /// other.
    case device(Resource, Caller)
    /// A page on a phone; several pages may wait for one result.
    case phone(Int)
  }

  /// Which client waits for a device's resource.
  package enum Caller: Hashable, Sendable {
    /// The device that created the code, according to the device id in the request.
    case owner
    /// Another client that knows the code, identified by its address: a login page, or a box that sends no device id.
    case other(SourceKey?)
  }

  /// Whether the device or the phone waits.
  package enum Side: Sendable {
    case device, phone
  }

  package enum Resource: Hashable, Sendable {
    case record, authentication, check, poll, token, decisions
  }

  /// Why a wait ended.
  package enum End: Sendable {
    /// The subject changed.
    case changed
    /// The code was approved. The record was written and is durable.
    case approved(AuthenticationRecord)
    /// The wait has lasted as long as the client asked.
    case timeUp
    /// The same client has sent the request again.
    case displaced
    /// The service stops.
    case stopping
  }

  /// A held request.
  ///
  /// Its memory is this and what the two closures capture.
  fileprivate struct Waiter: Sendable {
    let number: UInt64
    let place: Place
    let isStill: @Sendable () -> Bool
    let end: @Sendable (End) -> Void
  }

  /// Identifies a waiter; the waiter may have ended.
  fileprivate struct Ticket: Sendable {
    let subject: Subject
    let number: UInt64
  }

  fileprivate struct WaitersState {
    /// The caller that removes a waiter from this table must call its `end`.
    var waiting: [Subject: [Waiter]] = [:]
    var count = 0
    var numbers: UInt64 = 0
    /// Waiters by the tick at which their time is up.
    ///
    /// Entries of waiters that ended earlier are skipped at that tick.
    var deadlines: [Int64: [Ticket]] = [:]
    /// The number of entries in `deadlines`.
    var entries = 0
    /// Whether there are many entries of waiters that have ended.
    ///
    /// A client that repeats its request again and again leaves an entry each time.
    var isCrowded: Bool { entries > 2 * count + 1_024 }
    var isTicking = false
    var isStopping = false
    var phones = 0
  }

  /// The resolution of deadlines, in milliseconds: a hundredth of the shortest useful wait.
  private static let tick: Int64 = 50
  private let state = Locked(WaitersState())
  private let clock: ServiceClock

  package init(clock: ServiceClock) { self.clock = clock }

  /// The number of held requests.
  package var count: Int { state.withLock { $0.count } }

  /// The number of entries in the table of deadlines, including those of waiters that have ended.
  package var entries: Int { state.withLock { $0.entries } }

  /// The subjects for which devices wait.
  var awaitedByDevices: [Subject] {
    state.withLock { state in
      state.waiting.filter { $0.value.contains { $0.place.side == .device } }.map(\.key)
    }
  }

  /// A new place for a page that waits.
  package func phonePlace() -> Place {
    state.withLock { state in
      state.phones &+= 1
      return .phone(state.phones)
    }
  }

  /// Holds a reply until `isStill` returns false or the time is up.
  ///
  /// `end` completes the reply and is called once.
  ///
  /// `isStill` is called at every change and once after the waiter is in the table. Without the second check, a change
  /// between the caller's own check and the insertion would be missed.
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

  /// Call this after a change that one side can see: ends that side's waits whose `isStill` is now false.
  package func wake(_ side: Side, of subject: Subject, with news: End = .changed) {
    let woken = state.withLock { state in
      state.take(subject) { $0.place.side == side && !$0.isStill() }
    }
    for waiter in woken { waiter.end(news) }
  }

  /// Call this when any subject may have changed: ends all waits whose `isStill` is now false.
  package func wakeAll() {
    let woken = state.withLock { state in
      state.waiting.keys.flatMap { subject in state.take(subject) { !$0.isStill() } }
    }
    for waiter in woken { waiter.end(.changed) }
  }

  /// Ends all waits.
  ///
  /// From now on, new ones end at once.
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

  /// Sets whether new waits are accepted; if not, they end at once with `.stopping`.
  package func takes(_ isOpen: Bool) { state.withLock { $0.isStopping = !isOpen } }

  /// Ends up to `most` waits with `.stopping`.
  ///
  /// - Returns: whether any are left.
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

  /// Ends waits whose time is up, every 50 ms while there are any.
  private func startTicking() {
    Task { [weak self] in
      while let self, self.endDue() {
        try? await Task.sleep(for: .milliseconds(Self.tick))
      }
    }
  }

  /// - Returns: whether any deadlines are left.
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

  /// The result of inserting a waiter.
  private struct Began {
    let ticket: Ticket
    let displaced: Waiter?
    let isFirst: Bool
    let isCrowded: Bool
  }
}

extension Waiters.WaitersState {
  /// Removes and returns the waiters of a subject that satisfy `isMeant`.
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
