internal import RegentPairing
internal import PairingStore

// The tables of the live codes, and what happens in them under the lock.

extension LiveCodes {
  struct DeviceKey: Hashable {
    let requestor: RequestorID
    let device: DeviceHash

    init(requestor: RequestorID, device: DeviceHash) {
      self.requestor = requestor
      self.device = device
    }

    init(_ record: RegistrationRecord) {
      self.init(requestor: record.requestor, device: record.deviceHash)
    }

    /// The device alone: few have apps of several requestors.
    func hash(into hasher: inout Hasher) { hasher.combine(device) }
  }

  /// The newest code of a device, and what nearly all polls ask of it, so that they need not look at the object.
  struct Newest {
    let known: CachedCode
    /// Until then the device waits, and has no sign-in from before; nil when that is not so or not known.
    let waitsUntil: Instant?

    init(_ known: CachedCode) {
      self.known = known
      let waits = known.record.flow.state.isPending && known.hasEarlierSignIn == false
      waitsUntil = waits ? known.record.flow.expires : nil
    }
  }

  struct Tables {
    var codes: [RegistrationID: CachedCode] = [:]
    var ids: [CodeHash: RegistrationID] = [:]
    /// The newest code of each device: the same object as in `codes`, so that a poll looks in one table only.
    var latest: [DeviceKey: Newest] = [:]
    /// What is to be looked at when a minute has passed, so that no sweep walks over everything.
    var due: [Int64: [RegistrationID]] = [:]
    /// How many codes wait for an answer.
    var pending = 0
    /// How many devices were signed in without a code.
    var signIns = 0
    /// How many of this node's own ran out of time since the last sweep told.
    var expired = 0
    /// Codes that came to nothing, of each requestor.
    var ended: [RequestorID: EndedCodes] = [:]
    /// What the boot clock says is over, by minute: the wall clock may stand still, or go back, for a year.
    var ages: [Int64: [RegistrationID]] = [:]
    /// How many there are in `due` and `ages`.
    var entries = 0
    /// Codes that were let go before their time, and that the store is still to forget.
    var given: [RegistrationID] = []
    /// Bytes of what devices say of themselves, in all codes.
    var described = 0
    /// Codes that the store is approving at this moment, and how often.
    var approving: [RegistrationID: Int] = [:]
    /// How long after its end a code is not said to be over.
    var doubt = Duration.zero
  }
}

extension LiveCodes.Tables {
  /// A code that was not there, or is further than it was.
  mutating func put(_ known: LiveCodes.CachedCode, _ clock: ServiceClock) {
    let record = known.record
    let before = codes[record.id]?.record
    let change = (record.flow.state.isPending ? 1 : 0) - (before?.flow.state.isPending == true ? 1 : 0)
    pending += change
    if before == nil {
      described += record.described
      let left = min(max(record.flow.expires.since(clock.now), .zero), CodeLifetime.longest.span)
      let over = clock.uptime + left + CodeLifetime.remembrance
      ages[over.minute + 1, default: []].append(record.id)
      entries += 1
    }
    codes[record.id] = known
    ids[record.code] = record.id
    let key = LiveCodes.DeviceKey(record)
    let newest = latest[key]?.known.record
    if newest.map(record.takesThePlace(of:)) ?? true { latest[key] = LiveCodes.Newest(known) }
    due[record.flow.expires.tick + 1, default: []].append(record.id)
    due[record.flow.forgettable.tick + 1, default: []].append(record.id)
    entries += 2
    noteEnd(of: record, clock.uptime)
  }

  /// A code that came to nothing is remembered only as long as there are few of them.
  mutating func noteEnd(of record: RegistrationRecord, _ now: Uptime) {
    guard record.flow.state.cameToNothing else { return }
    let isWithdrawn = record.flow.state == .withdrawn
    for id in ended[record.requestor, default: EndedCodes()].add(record.id, isWithdrawn, at: now) {
      letGo(id) { $0.cameToNothing }
    }
  }

  /// Forgets a code before its time, if it is one of those; the store is told when somebody comes by.
  mutating func letGo(_ id: RegistrationID, if isMeant: (PairingState) -> Bool = { _ in true }) {
    guard let known = codes[id], isMeant(known.record.flow.state) else { return }
    drop(known)
    // The list fills only while the store cannot write, when no new codes come either. What it has no room for is
    // found again after a restart.
    if given.count < LiveCodes.mostGiven { given.append(id) }
    compact()
  }

  /// Takes codes that were let go before their time out of what is to be looked at later: with codes of ten hours that
  /// would be millions.
  ///
  /// In one go when they are many times as many as the codes, so that each costs a few steps.
  private mutating func compact() {
    guard entries > 8 * codes.count + 20_000 else { return }
    let known = codes
    due = due.mapValues { $0.filter { known[$0] != nil } }.filter { !$0.value.isEmpty }
    ages = ages.mapValues { $0.filter { known[$0] != nil } }.filter { !$0.value.isEmpty }
    entries = (due.values.reduce(0) { $0 + $1.count }) + ages.values.reduce(0) { $0 + $1.count }
  }

  /// What the store said of a device's sign-in, unless it may be outdated.
  func believed(_ isSignedIn: Bool?, asOf signIns: Int?) -> Bool? {
    guard isSignedIn == false, let signIns, signIns != self.signIns else { return isSignedIn }
    return nil
  }

  /// The next step of a code, wherever the one before it is.
  mutating func replace(_ before: LiveCodes.CachedCode, _ known: LiveCodes.CachedCode) {
    codes[known.record.id] = known
    let key = LiveCodes.DeviceKey(known.record)
    if latest[key]?.known === before { latest[key] = LiveCodes.Newest(known) }
  }

  /// A code as it is now.
  ///
  /// Once somebody was told that it has expired it stays so, even when the clock is set back. While the store is
  /// approving it nobody is: a device that has heard of the end asks no more, and would never hear of the yes.
  mutating func look(
    at known: LiveCodes.CachedCode, _ now: Instant, _ uptime: @autoclosure () -> Uptime
  ) -> LiveCodes.CachedCode {
    let flow = known.record.flow
    guard flow.state.isPending, now >= flow.expires else { return known }
    guard approving[known.record.id] == nil, now >= flow.expires + doubt else {
      return known.moved(
        to: known.record.moved(to: flow.lasting(until: now + .seconds(1))), hasEarlierSignIn: known.hasEarlierSignIn)
    }
    if known.isOwn { expired += 1 }
    pending -= 1
    let settled = known.moved(
      to: known.record.moved(to: flow.settled(at: now)), hasEarlierSignIn: known.hasEarlierSignIn)
    replace(known, settled)
    noteEnd(of: settled.record, uptime())
    return settled
  }

  /// - Returns: false when there was nothing left to look at.
  mutating func sweep(at now: Instant, _ uptime: Uptime, limit: Int) -> Bool {
    // After a jump of the clock the keys that exist are fewer than the ticks in between.
    guard let tick = due.keys.filter({ $0 <= now.tick }).min() else { return false }
    for _ in 0..<limit {
      guard let id = due[tick]?.popLast() else {
        due[tick] = nil
        break
      }
      entries -= 1
      guard let known = codes[id] else { continue }
      if now >= look(at: known, now, uptime).record.flow.forgettable { forget(known.record) }
    }
    return true
  }

  /// Lets go of what is over by the boot clock, whatever the time of day is said to be.
  ///
  /// - Returns: false when there was nothing left to look at.
  mutating func sweepAges(at now: Uptime, limit: Int) -> Bool {
    for requestor in Array(ended.keys) {
      for id in ended[requestor]?.sweep(at: now) ?? [] { letGo(id) { $0.cameToNothing } }
      if ended[requestor]?.isEmpty == true { ended[requestor] = nil }
    }
    guard let minute = ages.keys.filter({ $0 <= now.minute }).min() else { return false }
    for _ in 0..<limit {
      guard let id = ages[minute]?.popLast() else {
        ages[minute] = nil
        break
      }
      entries -= 1
      letGo(id)
    }
    return true
  }

  /// Lets go of a code, whatever its state.
  mutating func drop(_ known: LiveCodes.CachedCode) {
    if known.record.flow.state.isPending { pending -= 1 }
    forget(known.record)
  }

  private mutating func forget(_ record: RegistrationRecord) {
    if codes.removeValue(forKey: record.id) != nil { described -= record.described }
    if ids[record.code] == record.id { ids[record.code] = nil }
    let key = LiveCodes.DeviceKey(record)
    if latest[key]?.known.record.id == record.id { latest[key] = nil }
  }
}

extension RegistrationRecord {
  /// Whether this is the code to answer a device with rather than `other`, which it had before.
  ///
  /// A device has one pending code at most; two that were asked for at the same time are not always told in their
  /// order.
  fileprivate func takesThePlace(of other: RegistrationRecord) -> Bool {
    if id == other.id { return true }
    let (mine, theirs) = (flow.state.isPending, other.flow.state.isPending)
    return mine == theirs ? flow.issued >= other.flow.issued : mine
  }
}

extension Instant {
  /// Ten seconds: so long more than its lifetime a code that nobody asks about is counted as pending.
  fileprivate var tick: Int64 { milliseconds / 10_000 }
}

extension PairingState {
  /// Whether nobody is signed in by it, nor will be.
  fileprivate var cameToNothing: Bool {
    switch self {
    case .withdrawn, .expired, .denied: true
    case .offered, .opened, .claimed, .approved, .delivered: false
    }
  }
}

extension Uptime {
  fileprivate var minute: Int64 { milliseconds / 60_000 }
}

extension RegistrationRecord {
  /// Bytes that the device chose to send.
  fileprivate var described: Int { device.text.utf8.count + about.size }
}

extension PairingFlow {
  /// Whether this is a later state of the same code; a longer lease is one, too.
  func isNewer(than other: PairingFlow) -> Bool {
    if sequence != other.sequence { return sequence > other.sequence }
    // "Expired" is what the clock made of the state in memory: what the store wrote for the same step goes before it.
    if case .expired = other.state { return state.status != .expired && !state.isPending }
    guard case .claimed(let mine) = state, case .claimed(let theirs) = other.state else {
      return false
    }
    return mine.until > theirs.until
  }
}
