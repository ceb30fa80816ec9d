package import HTTPServer
package import PairingStore
package import RegentPairing
internal import RegentPlatform

/// Holds the responses to long polls until the state that they wait for changes (`Prefer: wait`).
///
/// One lock protects all waiting requests (waiters). A waiter ends in exactly one way, and its `end` is called once.
/// Neither of its closures is called under the lock.
package final class Waiters: Sendable {
  /// The code or box for whose change a long poll waits.
  package enum Subject: Hashable, Sendable {
    case code(RegistrationID)
    /// The long poll waits for the viewer's decisions about the apps of a box.
    case box(DeviceHash)
  }

  /// The client that has a long poll, and the response that it waits for.
  package enum Place: Hashable, Sendable {
    /// A long poll of a device for a resource.
    ///
    /// A new long poll for the same resource by the same caller ends that caller's earlier one, and no other.
    case device(Resource, Caller)
    /// A long poll of a page on a phone; several pages may wait for one result.
    case phone(Int)
  }

  /// The most pages that may wait for one code; a further page ends the wait of the oldest.
  private static let pagesOfCode = 8

  /// The client that has a long poll for one of a device's resources, such as its code or its sign-in.
  package enum Caller: Hashable, Sendable {
    /// The long poll comes from the device that created the code, according to the device id in the request.
    case owner
    /// The long poll comes from another client that knows the code: a login page, or a box that sends no device id.
    ///
    /// It is identified by its address.
    case other(SourceKey?)
  }

  /// Whether a long poll comes from the device or from the phone.
  package enum Side: Sendable {
    case device, phone
  }

  package enum Resource: Hashable, Sendable {
    case record, authentication, check, poll, token, decisions
  }

  /// Why a long poll ended.
  package enum End: Sendable {
    /// The state that the long poll waits for may have changed.
    case changed
    /// The code was approved.
    ///
    /// The authentication is stored and durable.
    case approved(AuthenticationRecord)
    /// The long poll has lasted as long as the client asked.
    case timeUp
    /// The long poll was ended because the same client has sent its request again, or to make room for other clients.
    case displaced
    /// The long poll was ended because the service stops.
    case stopping
  }

  /// A long poll that waits.
  ///
  /// Its memory is this and what the two closures capture.
  fileprivate struct Waiter: Sendable {
    let number: UInt64
    let place: Place
    /// The client's network; nil if it is not known, as for a local program.
    let source: SourceKey?
    let isStill: @Sendable () -> Bool
    let end: @Sendable (End) -> Void
  }

  /// Names a waiting long poll, which may have ended meanwhile.
  fileprivate struct Ticket: Sendable {
    let subject: Subject
    let number: UInt64
  }

  fileprivate struct WaitersState {
    let room: Int
    /// The waiting long polls, by the code or box for whose change they wait.
    ///
    /// The code that removes a waiter from this table must call its `end`.
    var waiting: [Subject: [Waiter]] = [:]
    var count = 0
    /// The number of waiting long polls of each network.
    var held: [SourceKey: Int] = [:]
    /// The networks that have more long polls than their share.
    var crowds: Set<SourceKey> = []
    var numbers: UInt64 = 0
    /// The waiting long polls, by the 50 ms interval in which their time is up.
    ///
    /// Entries of long polls that ended earlier are skipped in that interval.
    var deadlines: [Int64: [Ticket]] = [:]
    /// The number of entries in `deadlines`.
    var entries = 0
    /// Whether `deadlines` has many entries of long polls that have ended.
    ///
    /// A client that repeats its request again and again leaves an entry each time.
    var isCrowded: Bool { entries > 2 * count + 1_024 }
    var isTicking = false
    var isStopping = false
    var phones = 0
  }

  /// Deadlines of long polls are checked every so many milliseconds: a hundredth of the shortest useful wait.
  private static let tick: Int64 = 50
  private let state: Locked<WaitersState>
  private let clock: ServiceClock

  /// Makes the table for `room` long polls; above that number, those of the network with the most are ended.
  package init(clock: ServiceClock, room: Int = .max) {
    self.clock = clock
    state = Locked(WaitersState(room: room))
  }

  /// The number of long polls that wait.
  package var count: Int { state.withLock { $0.count } }

  /// The number of entries in the table of deadlines, including those of long polls that have ended.
  package var entries: Int { state.withLock { $0.entries } }

  /// The codes and boxes for whose changes devices have long polls.
  var awaitedByDevices: [Subject] {
    state.withLock { state in
      state.waiting.filter { $0.value.contains { $0.place.side == .device } }.map(\.key)
    }
  }

  /// A new identifier for a long poll of a page on a phone.
  package func phonePlace() -> Place {
    state.withLock { state in
      state.phones &+= 1
      return .phone(state.phones)
    }
  }

  /// Holds the response to a long poll until `isStill` returns false or the time is up.
  ///
  /// `end` completes the response and is called once. `isStill` is called at every change and once after the waiter is
  /// in the table. Without the second check, a change between the caller's own check and the insertion would be missed.
  ///
  /// When there are too many long polls, those of the network with the most (`source`) end, so that one network cannot
  /// hold all connections.
  package func park(
    _ reply: PendingReply, for subject: Subject, _ place: Place, from source: SourceKey?, span: Duration,
    while isStill: @escaping @Sendable () -> Bool,
    end: @escaping @Sendable (End) -> Void
  ) {
    let source = source?.subscriber
    let deadline = (clock.uptime + span).milliseconds / Self.tick + 1
    let began = state.withLock { state -> Began? in
      guard !state.isStopping else { return nil }
      state.numbers &+= 1
      let ticket = Ticket(subject: subject, number: state.numbers)
      var displaced = state.take(subject) { $0.place == place }
      if place.side == .phone { displaced += state.takeOldestPage(subject, most: Self.pagesOfCode) }
      state.add(Waiter(number: ticket.number, place: place, source: source, isStill: isStill, end: end), to: subject)
      displaced += state.relieve()
      state.deadlines[deadline, default: []].append(ticket)
      state.entries += 1
      defer { state.isTicking = true }
      return Began(
        ticket: ticket, displaced: displaced, isFirst: !state.isTicking, isCrowded: state.isCrowded)
    }
    guard let began else { return end(.stopping) }
    for waiter in began.displaced { waiter.end(.displaced) }
    if began.isCrowded { forgetWhatIsOver() }
    if began.isFirst { startTicking() }
    let ticket = began.ticket
    reply.onAbandoned { [weak self] in _ = self?.take(ticket) }
    guard isStill() else {
      take(ticket)?.end(.changed)
      return
    }
  }

  /// Ends the long polls of one side (device or phone) whose `isStill` is now false.
  ///
  /// Call it after a change that this side can see.
  package func wake(_ side: Side, of subject: Subject, with news: End = .changed) {
    let waiting = state.withLock { $0.waiting[subject] ?? [] }
    end(waiting.filter { $0.place.side == side }, of: subject, with: news)
  }

  /// Ends all long polls whose `isStill` is now false.
  ///
  /// Call it when it is not known what has changed.
  package func wakeAll() {
    for (subject, waiting) in state.withLock({ $0.waiting }) { end(waiting, of: subject, with: .changed) }
  }

  /// Ends those of a subject's waiters whose `isStill` is now false.
  ///
  /// `isStill` takes locks of other tables, so it is called outside the lock. A waiter that ended meanwhile is no
  /// longer in the table.
  private func end(_ waiting: [Waiter], of subject: Subject, with news: End) {
    for waiter in waiting where !waiter.isStill() {
      take(Ticket(subject: subject, number: waiter.number))?.end(news)
    }
  }

  /// Ends all long polls.
  ///
  /// From now on, new ones end at once.
  package func stop() {
    let all = state.withLock { state in
      state.isStopping = true
      defer { state.waiting = [:] }
      state.count = 0
      state.held = [:]
      state.crowds = []
      state.deadlines = [:]
      state.entries = 0
      return state.waiting.values.flatMap(\.self)
    }
    for waiter in all { waiter.end(.stopping) }
  }

  /// Sets whether new long polls are accepted; if not, they end at once with `.stopping`.
  package func takes(_ isOpen: Bool) { state.withLock { $0.isStopping = !isOpen } }

  /// Ends up to `most` long polls with `.stopping`.
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

  /// Ends long polls whose time is up, every 50 ms while there are any.
  private func startTicking() {
    Task { [weak self] in
      while let self, self.endDue() {
        try? await Task.sleep(for: .milliseconds(Self.tick))
      }
    }
  }

  /// Ends the long polls whose time is up.
  ///
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

  /// The result of adding a long poll to the table.
  private struct Began {
    let ticket: Ticket
    let displaced: [Waiter]
    let isFirst: Bool
    let isCrowded: Bool
  }
}

extension Waiters.WaitersState {
  /// Removes and returns the long polls of a subject that satisfy `isMeant`.
  fileprivate mutating func take(
    _ subject: Waiters.Subject, where isMeant: (Waiters.Waiter) -> Bool
  ) -> [Waiters.Waiter] {
    guard let here = waiting[subject] else { return [] }
    let taken = here.filter(isMeant)
    guard !taken.isEmpty else { return [] }
    let rest = here.filter { waiter in !taken.contains { $0.number == waiter.number } }
    waiting[subject] = rest.isEmpty ? nil : rest
    count -= taken.count
    for waiter in taken { leave(waiter.source) }
    return taken
  }

  fileprivate mutating func add(_ waiter: Waiters.Waiter, to subject: Waiters.Subject) {
    waiting[subject, default: []].append(waiter)
    count += 1
    guard let source = waiter.source else { return }
    held[source, default: 0] += 1
    if held[source, default: 0] > share { crowds.insert(source) }
  }

  private mutating func leave(_ source: SourceKey?) {
    guard let source, let number = held[source] else { return }
    held[source] = number > 1 ? number - 1 : nil
    if number - 1 <= share { crowds.remove(source) }
  }

  /// The number of long polls that a network always keeps.
  private var share: Int { min(512, room / 8) }

  fileprivate mutating func takeOldestPage(_ subject: Waiters.Subject, most: Int) -> [Waiters.Waiter] {
    guard let pages = waiting[subject]?.filter({ $0.place.side == .phone }), pages.count >= most else { return [] }
    return take(subject) { $0.number == pages[0].number }
  }

  /// Takes some long polls of the network that has the most, if there are too many in all.
  ///
  /// It takes many at once, because finding them looks at all.
  fileprivate mutating func relieve() -> [Waiters.Waiter] {
    guard count > room, let largest = crowds.max(by: { held[$0, default: 0] < held[$1, default: 0] }) else { return [] }
    let most = min(held[largest, default: 0] - share, max(1, room / 64))
    let tickets = waiting.lazy.flatMap { subject, waiters in
      waiters.lazy.filter { $0.source == largest }.map { Waiters.Ticket(subject: subject, number: $0.number) }
    }.prefix(most)
    return Array(tickets).compactMap { take($0) }
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
