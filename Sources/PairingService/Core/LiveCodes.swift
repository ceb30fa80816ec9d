package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// The codes that are remembered, in memory: what polls look at without touching a disk.
///
/// The store is what survives a restart; this is what it said last. Verbs of the store tell every change here
/// (`CodeTransitions`, `SignInTransitions`), and a restart loads all of it again.
package final class LiveCodes: Sendable {
  /// A code and what is known about its device besides.
  ///
  /// An object, because every poll is handed one: a record has so many parts that copying it costs more than the poll's
  /// other work. A change is a new object.
  package final class CachedCode: Sendable {
    /// Whether the device may be signed in from before; nil until somebody looked.
    ///
    /// Before the record, whose first field is the flow: what a poll reads of an object lies in one place.
    package let hasEarlierSignIn: Bool?
    /// Whether it was made here, or before the restart: of several nodes that know a code, one counts its end.
    let isOwn: Bool
    package let record: RegistrationRecord

    init(_ record: RegistrationRecord, hasEarlierSignIn: Bool?, isOwn: Bool) {
      self.record = record
      self.hasEarlierSignIn = hasEarlierSignIn
      self.isOwn = isOwn
    }

    /// The same code as it is now.
    func moved(to record: RegistrationRecord, hasEarlierSignIn: Bool?) -> CachedCode {
      CachedCode(record, hasEarlierSignIn: hasEarlierSignIn, isOwn: isOwn)
    }
  }

  /// What devices may say of themselves in all codes together: 64 MiB.
  private static let mostDescribed = 64 << 20
  /// So many codes wait to be forgotten by the store at most.
  static let mostGiven = 50_000
  private let tables = Locked(Tables())
  private let clock: ServiceClock

  /// No codes; `isShared` says that other nodes may approve them.
  package init(clock: ServiceClock, isShared: Bool = false) {
    self.clock = clock
    if isShared { tables.withLock { $0.doubt = Self.doubt } }
  }

  /// So long after its end memory still has a code waiting where other nodes may approve it.
  ///
  /// Whoever has looked for it a moment before its end tells "not yet", and whoever looks from then on has the store
  /// end it first (``CodeLooks``).
  private static let doubt: Duration = .seconds(1)

  /// How many devices were signed in without a code so far: taken, here or with ``beforePickUp(of:at:)``, before the
  /// store is asked whether a device is signed in.
  ///
  /// The store's "no" is told here later than the store said it. When somebody was signed in between, it may be a
  /// device's that is signed in by now, and nobody knows: the next poll asks the store again.
  package var signIns: Int { tables.withLock { $0.signIns } }

  /// What is known before the store is asked whether a device is signed in: the number of ``signIns``, and whether the
  /// device's newest code is approved and was not read yet.
  func beforePickUp(of device: DeviceHash, at requestor: RequestorID)
    -> (signIns: Int, awaitsDelivery: Bool)
  {
    tables.withLock { tables in
      let newest = tables.latest[DeviceKey(requestor: requestor, device: device)]?.known.record
      return (tables.signIns, newest?.flow.state.status == .approved)
    }
  }

  /// A new code, or one that the store remembered over a restart.
  package func add(_ record: RegistrationRecord, hasEarlierSignIn: Bool?, asOf signIns: Int? = nil) {
    tables.withLock { tables in
      let hasEarlierSignIn = tables.believed(hasEarlierSignIn, asOf: signIns)
      // Its withdrawal by a newer code may have been told first: an old look must not bring it back to life.
      if let known = tables.codes[record.id], !record.flow.isNewer(than: known.record.flow) {
        tables.replace(known, CachedCode(known.record, hasEarlierSignIn: hasEarlierSignIn, isOwn: true))
      } else {
        tables.put(CachedCode(record, hasEarlierSignIn: hasEarlierSignIn, isOwn: true), clock)
      }
    }
  }

  /// What a verb made of a code.
  ///
  /// Two verbs may tell their results in another order than they ran in: the one with the higher sequence stays.
  package func note(_ record: RegistrationRecord) {
    tables.withLock { tables in
      guard let known = tables.codes[record.id] else {
        return tables.put(CachedCode(record, hasEarlierSignIn: nil, isOwn: false), clock)
      }
      guard record.flow.isNewer(than: known.record.flow) else { return }
      if known.record.flow.state.isPending, !record.flow.state.isPending {
        tables.pending -= 1
        // Another node has written that its time is over.
        if known.isOwn, record.flow.state == .expired { tables.expired += 1 }
      }
      // The sign-in that a code led to takes the place of earlier ones.
      let hasSignIn = record.flow.state.approval != nil ? true : known.hasEarlierSignIn
      tables.replace(known, known.moved(to: record, hasEarlierSignIn: hasSignIn))
      tables.noteEnd(of: record, clock.uptime)
    }
  }

  /// What a look into the store found, which another node may have written.
  func learn(_ record: RegistrationRecord) { note(record) }

  /// Notes that a device was signed in without its code.
  package func noteSignIn(of device: DeviceHash, at requestor: RequestorID) {
    tables.withLock { $0.signIns += 1 }
    noteSignIn(true, of: device, at: requestor)
  }

  /// Notes whether a device is signed in, for its newest code; nil when nobody knows.
  package func noteSignIn(
    _ isSignedIn: Bool?, of device: DeviceHash, at requestor: RequestorID, asOf signIns: Int? = nil
  ) {
    tables.withLock { tables in
      // Of a "no" that is not believed nothing is learned: the sign-in that has overtaken it may be this device's.
      guard isSignedIn == nil || tables.believed(isSignedIn, asOf: signIns) != nil,
        let known = tables.latest[DeviceKey(requestor: requestor, device: device)]?.known,
        known.hasEarlierSignIn != isSignedIn
      else { return }
      tables.replace(known, known.moved(to: known.record, hasEarlierSignIn: isSignedIn))
    }
  }

  /// Nobody knows any more which devices are signed in: the next question of each goes to the store.
  func noteUnknownSignIns() {
    tables.withLock { tables in
      tables.signIns += 1
      for known in tables.codes.values where known.hasEarlierSignIn != nil {
        tables.replace(known, known.moved(to: known.record, hasEarlierSignIn: nil))
      }
    }
  }

  /// A code of one requestor; codes of others are not there for it.
  package func find(_ code: CodeHash, of requestor: RequestorID) -> RegistrationRecord? {
    guard let record = find(code), record.requestor == requestor else { return nil }
    return record
  }

  /// A code of any requestor: what the phone's page asks for.
  package func find(_ code: CodeHash) -> RegistrationRecord? {
    let now = clock.now
    return tables.withLock { tables in
      guard let id = tables.ids[code], let known = tables.codes[id] else { return nil }
      return tables.look(at: known, now, clock.uptime).record
    }
  }

  package func find(_ id: RegistrationID) -> RegistrationRecord? { cached(id)?.record }

  /// A code with what is known about its device.
  package func cached(_ id: RegistrationID) -> CachedCode? {
    let now = clock.now
    return tables.withLock { tables in tables.codes[id].map { tables.look(at: $0, now, clock.uptime) } }
  }

  /// The newest code of a device.
  package func latest(of device: DeviceHash, at requestor: RequestorID) -> CachedCode? {
    let now = clock.now
    return tables.withLock { tables in
      tables.latest[DeviceKey(requestor: requestor, device: device)].map {
        tables.look(at: $0.known, now, clock.uptime)
      }
    }
  }

  /// Whether a device's newest code is pending, and it has no sign-in from before.
  package func waits(_ device: DeviceHash, at requestor: RequestorID, _ now: Instant) -> Bool {
    tables.withLock { tables in
      guard let newest = tables.latest[DeviceKey(requestor: requestor, device: device)],
        let end = newest.waitsUntil
      else { return false }
      return now < end
    }
  }

  /// Lets go of the codes whose rows a revoked key pair signed: the store does not know them any more either.
  package func forget(signedBy rowKeys: Set<PublicKey>) {
    tables.withLock { tables in
      for known in tables.codes.values where rowKeys.contains(known.record.rowKey) { tables.drop(known) }
    }
  }

  /// Lets go of a code that the store does not know any more.
  package func forget(_ id: RegistrationID) {
    tables.withLock { tables in
      if let known = tables.codes[id] { tables.drop(known) }
    }
  }

  /// The store is about to approve a code: until ``endApproval(of:)`` memory tells nobody that it has expired.
  ///
  /// - Returns: false when its time is up, and whoever asks is told so from here on.
  func beginApproval(of id: RegistrationID, at now: Instant) -> Bool {
    tables.withLock { tables in
      if let known = tables.codes[id], case .expired = tables.look(at: known, now, clock.uptime).record.flow.state {
        return false
      }
      tables.approving[id, default: 0] += 1
      return true
    }
  }

  /// The store has said what became of it, and memory knows.
  func endApproval(of id: RegistrationID) {
    tables.withLock { tables in
      let left = tables.approving[id, default: 1] - 1
      tables.approving[id] = left > 0 ? left : nil
    }
  }

  /// Which codes are in memory.
  var ids: [RegistrationID] { tables.withLock { Array($0.codes.keys) } }

  /// Codes that were let go before their time since somebody asked last, when there are so many: for the store to
  /// forget.
  func takeGiven(atLeast count: Int = 1) -> [RegistrationID] {
    tables.withLock { tables in
      guard tables.given.count >= count else { return [] }
      defer { tables.given = [] }
      return tables.given
    }
  }

  /// Keeps for the next time what the store could not forget.
  func giveBack(_ given: [RegistrationID]) {
    tables.withLock { $0.given += given.prefix(max(0, Self.mostGiven - $0.given.count)) }
  }

  /// Whether there is room for what another device says of itself; a code needs none of it.
  package var hasRoomForDescriptions: Bool { tables.withLock { $0.described < Self.mostDescribed } }

  /// The codes that clients asked for and nobody has answered.
  func pendingOfClients() -> [ClientID: [RegistrationID]] {
    tables.withLock { tables in
      tables.codes.values.reduce(into: [:]) { codes, known in
        guard let client = known.record.about.asked?.client, known.record.flow.state.isPending else { return }
        codes[client, default: []].append(known.record.id)
      }
    }
  }

  /// How many notes there are of when to look at which code.
  var notes: Int { tables.withLock { $0.entries } }

  /// How many codes are in memory, whatever their state.
  package var remembered: Int { tables.withLock { $0.codes.count } }

  /// How many codes wait for an answer, those included whose time has run out seconds ago.
  package var pending: Int { tables.withLock { $0.pending } }

  /// Lets go of what has come to its end.
  ///
  /// - Returns: how many codes ran out of time unanswered since the last call.
  package func sweep(at now: Instant) -> Int {
    // In pieces: no poll waits while all codes of a busy minute are gone through.
    let uptime = clock.uptime
    while tables.withLock({ $0.sweep(at: now, uptime, limit: 500) }) {}
    while tables.withLock({ $0.sweepAges(at: uptime, limit: 500) }) {}
    return tables.withLock { tables in
      defer { tables.expired = 0 }
      return tables.expired
    }
  }
}
