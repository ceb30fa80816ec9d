internal import RegentPairing
internal import PairingStore

// The tables of ``LiveCodes``, and the operations on them that run under its lock.

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

    /// Hashes the device alone, which is faster and nearly as good, because few devices have apps of several
    /// requestors.
    func hash(into hasher: inout Hasher) { hasher.combine(device) }
  }

  /// The newest code of a device, together with the one value that nearly all polls need.
  ///
  /// A poll then need not load the code's object.
  struct Newest {
    let known: CachedCode
    /// The time until which a poll is answered with "not yet", because the code is pending and the device has no
    /// earlier sign-in.
    ///
    /// Nil when the code is not pending, or the device has an earlier sign-in or may have one.
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
    /// The newest code of each device.
    ///
    /// It holds the same objects as `codes`, so that a poll reads one table only.
    var latest: [DeviceKey: Newest] = [:]
    /// The codes whose state must be checked, by ten-second interval of the wall clock, so that the clean-up need not
    /// check all codes.
    var due: [Int64: [RegistrationID]] = [:]
    /// The number of codes that wait for an approval.
    var pending = 0
    /// The number of sign-ins without a code so far; see ``LiveCodes/signIns``.
    var signIns = 0
    /// The number of codes created at this node that expired since the last clean-up reported it.
    var expired = 0
    /// The withdrawn, expired and denied codes, by requestor.
    var ended: [RequestorID: EndedCodes] = [:]
    /// The codes to evict, by minute of the boot clock.
    ///
    /// The wall clock is not used, because it may stand still, or be set back by a year.
    var ages: [Int64: [RegistrationID]] = [:]
    /// The number of entries in `due` and `ages` together.
    var entries = 0
    /// Codes that memory has evicted to limit its size, and that the store must still delete.
    var given: [RegistrationID] = []
    /// The number of bytes that devices' reports about themselves take in all codes together.
    var described = 0
    /// Codes that the store is approving at this moment, with the number of running approvals of each.
    var approving: [RegistrationID: Int] = [:]
    /// For how long after its expiry a code is still reported as pending; zero when no other node shares the store.
    var doubt = Duration.zero
  }
}

extension LiveCodes.Tables {
  /// The newest code of a device that belongs to this owner; of any owner if `owner` is nil.
  ///
  /// If two owners use one device id at a requestor, the second one's code is stored under a separate hash
  /// (``SignInOwner``). So both hashes are searched.
  func newest(of device: DeviceHash, at requestor: RequestorID, by owner: SignInOwner?) -> LiveCodes.CachedCode? {
    let known = latest[LiveCodes.DeviceKey(requestor: requestor, device: device)]?.known
    guard let owner else { return known }
    let own = known.flatMap { owner.owns($0.record.about) ? $0 : nil }
    if let own, own.record.flow.state.isPending, owner.made(own.record.about) { return own }
    guard let hash = owner.separateHash(of: device),
      let separate = latest[LiveCodes.DeviceKey(requestor: requestor, device: hash)]?.known
    else { return own }
    return own.map { separate.record.takesThePlace(of: $0.record) } ?? true ? separate : own
  }

  /// Adds a code, or replaces a known code by a later state of it.
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

  /// Puts a code that ended without an approval on its requestor's list of ended codes, and evicts the codes for which
  /// the list has no room.
  mutating func noteEnd(of record: RegistrationRecord, _ now: Uptime) {
    guard record.flow.state.cameToNothing else { return }
    let isWithdrawn = record.flow.state == .withdrawn
    for id in ended[record.requestor, default: EndedCodes()].add(record.id, isWithdrawn, at: now) {
      letGo(id) { $0.cameToNothing }
    }
  }

  /// Evicts a code if its state satisfies `isMeant`, and puts it on the list of codes that the store must delete.
  mutating func letGo(_ id: RegistrationID, if isMeant: (PairingState) -> Bool = { _ in true }) {
    guard let known = codes[id], isMeant(known.record.flow.state) else { return }
    drop(known)
    // The list fills up only while the store cannot write, and then no new codes are made either. Codes for which the
    // list has no room stay in the store and are loaded again after a restart.
    if given.count < LiveCodes.mostGiven { given.append(id) }
    compact()
  }

  /// Removes the entries of evicted codes from `due` and `ages`.
  ///
  /// With codes that live ten hours, millions of such entries would collect.
  ///
  /// It runs only when there are many times more entries than codes, so that the cost for each entry is a few steps.
  private mutating func compact() {
    guard entries > 8 * codes.count + 20_000 else { return }
    let known = codes
    due = due.mapValues { $0.filter { known[$0] != nil } }.filter { !$0.value.isEmpty }
    ages = ages.mapValues { $0.filter { known[$0] != nil } }.filter { !$0.value.isEmpty }
    entries = (due.values.reduce(0) { $0 + $1.count }) + ages.values.reduce(0) { $0 + $1.count }
  }

  /// Returns the store's answer whether a device is signed in, or nil when a "no" may be outdated.
  ///
  /// It may be outdated if any device has been signed in without a code since the store was asked.
  func believed(_ isSignedIn: Bool?, asOf signIns: Int?) -> Bool? {
    guard isSignedIn == false, let signIns, signIns != self.signIns else { return isSignedIn }
    return nil
  }

  /// Replaces a code by its next state in all tables that hold it.
  mutating func replace(_ before: LiveCodes.CachedCode, _ known: LiveCodes.CachedCode) {
    codes[known.record.id] = known
    let key = LiveCodes.DeviceKey(known.record)
    if latest[key]?.known === before { latest[key] = LiveCodes.Newest(known) }
  }

  /// The state of a code at this time; it becomes `expired` when its lifetime is over.
  ///
  /// After a client was told that the code expired, the code stays expired, even when the wall clock is set back. While
  /// the store is approving the code, it is reported as pending: a device that is told "expired" stops polling and
  /// would miss the approval.
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

  /// Expires up to `limit` codes that are due by the wall clock, and evicts those of them that need not be remembered
  /// any longer.
  ///
  /// - Returns: false when no code is due any more.
  mutating func sweep(at now: Instant, _ uptime: Uptime, limit: Int) -> Bool {
    // Searches the existing keys: after a jump of the clock, there may be millions of ten-second intervals in between.
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

  /// Evicts up to `limit` codes that are too old by the boot clock, whatever the wall clock shows.
  ///
  /// - Returns: false when no code is due any more.
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

  /// Removes a code in any state.
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
  /// Whether this code, instead of the device's code `other`, decides the response to the device's polls.
  ///
  /// A device has at most one pending code. Two codes that were created at the same time are not always reported here
  /// in their order.
  fileprivate func takesThePlace(of other: RegistrationRecord) -> Bool {
    if id == other.id { return true }
    let (mine, theirs) = (flow.state.isPending, other.flow.state.isPending)
    return mine == theirs ? flow.issued >= other.flow.issued : mine
  }
}

extension Instant {
  /// The number of the ten-second interval in which the time lies.
  ///
  /// A code that no client asks about is counted as pending for up to this long after its expiry.
  fileprivate var tick: Int64 { milliseconds / 10_000 }
}

extension PairingState {
  /// Whether the code ended without a sign-in.
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
  /// The number of bytes that the device's report about itself takes.
  fileprivate var described: Int { device.text.utf8.count + about.size }
}

extension PairingFlow {
  /// Whether this is a later state of the code than `other`.
  ///
  /// A claim with a longer lease counts as later.
  func isNewer(than other: PairingFlow) -> Bool {
    if sequence != other.sequence { return sequence > other.sequence }
    // Memory computed `expired` from the clock. A final state that the store wrote for the same step replaces it.
    if case .expired = other.state { return state.status != .expired && !state.isPending }
    guard case .claimed(let mine) = state, case .claimed(let theirs) = other.state else {
      return false
    }
    return mine.until > theirs.until
  }
}
