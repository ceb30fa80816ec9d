package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// The registration codes in memory, from which polls are answered without reading the store.
///
/// The store has the durable rows. This cache holds the last state that the store returned. `CodeTransitions` and
/// `SignInTransitions` report every change here, and a restart loads the cache again.
package final class LiveCodes: Sendable {
  /// A code in memory, with what is known about its device.
  ///
  /// It is a class because every poll gets one: a record has so many fields that copying it would cost more than the
  /// rest of the poll. Objects are immutable; a change creates a new one.
  package final class CachedCode: Sendable {
    /// Whether the device has an earlier sign-in; nil while the store has not been asked.
    ///
    /// It is declared before `record`, whose first field is the flow, so that the fields that a poll reads are adjacent
    /// in memory.
    package let hasEarlierSignIn: Bool?
    /// Whether the code was created at this node or loaded at the node's start.
    ///
    /// Several nodes may have a code in memory, but only this one counts how it ended.
    let isOwn: Bool
    package let record: RegistrationRecord

    init(_ record: RegistrationRecord, hasEarlierSignIn: Bool?, isOwn: Bool) {
      self.record = record
      self.hasEarlierSignIn = hasEarlierSignIn
      self.isOwn = isOwn
    }

    /// A copy of the code in another state.
    func moved(to record: RegistrationRecord, hasEarlierSignIn: Bool?) -> CachedCode {
      CachedCode(record, hasEarlierSignIn: hasEarlierSignIn, isOwn: isOwn)
    }
  }

  /// The maximum number of bytes for devices' reports about themselves, in all codes together: 64 MiB.
  private static let mostDescribed = 64 << 20
  /// The maximum number of evicted codes that wait for their deletion in the store.
  static let mostGiven = 50_000
  private let tables = Locked(Tables())
  private let clock: ServiceClock

  /// Creates an empty cache of codes; `isShared` says that other nodes may approve them.
  package init(clock: ServiceClock, isShared: Bool = false) {
    self.clock = clock
    if isShared { tables.withLock { $0.doubt = Self.doubt } }
  }

  /// For how long after its expiry memory still treats a code as pending, when other nodes may approve it.
  ///
  /// A request that read the store just before the expiry may still answer "not yet". A request after this time has the
  /// store expire the code first (``CodeRefresher``).
  private static let doubt: Duration = .seconds(1)

  /// The number of sign-ins without a code so far.
  ///
  /// Read it, here or with ``beforePickUp(of:at:)``, before asking the store whether a device is signed in. The store's
  /// "no" is noted here some time after the store read it. If any device was signed in without a code in between, it
  /// may have been this one. The "no" is then discarded, and the next poll asks the store again.
  package var signIns: Int { tables.withLock { $0.signIns } }

  /// Values to read before asking the store whether a device is signed in.
  ///
  /// They are ``signIns``, and whether the device's newest code is approved but not delivered.
  ///
  /// `place` is the hash under which the owner's newest code is stored; nil if memory has only another owner's code.
  func beforePickUp(of device: DeviceHash, at requestor: RequestorID, by owner: SignInOwner?)
    -> (signIns: Int, awaitsDelivery: Bool, place: DeviceHash?)
  {
    tables.withLock { tables in
      let newest = tables.newest(of: device, at: requestor, by: owner)?.record
      let hasForeign = newest == nil && tables.latest[DeviceKey(requestor: requestor, device: device)] != nil
      return (
        tables.signIns, newest?.flow.state.status == .approved, newest?.deviceHash ?? (hasForeign ? nil : device)
      )
    }
  }

  /// Adds a code to the cache that is new, or that was loaded from the store at the start.
  package func add(_ record: RegistrationRecord, hasEarlierSignIn: Bool?, asOf signIns: Int? = nil) {
    tables.withLock { tables in
      let hasEarlierSignIn = tables.believed(hasEarlierSignIn, asOf: signIns)
      // A newer code may have replaced this one, and its withdrawal may have been noted first. The older record must
      // not make the code pending again.
      if let known = tables.codes[record.id], !record.flow.isNewer(than: known.record.flow) {
        tables.replace(known, CachedCode(known.record, hasEarlierSignIn: hasEarlierSignIn, isOwn: true))
      } else {
        tables.put(CachedCode(record, hasEarlierSignIn: hasEarlierSignIn, isOwn: true), clock)
      }
    }
  }

  /// Notes the state of a code that a function of the store returned.
  ///
  /// Two results may be noted in another order than the store made them. The one with the higher sequence number wins.
  package func note(_ record: RegistrationRecord) {
    tables.withLock { tables in
      guard let known = tables.codes[record.id] else {
        return tables.put(CachedCode(record, hasEarlierSignIn: nil, isOwn: false), clock)
      }
      guard record.flow.isNewer(than: known.record.flow) else { return }
      if known.record.flow.state.isPending, !record.flow.state.isPending {
        tables.pending -= 1
        // Another node has stored the expiry of this node's code, so this node counts it.
        if known.isOwn, record.flow.state == .expired { tables.expired += 1 }
      }
      // An approved code has led to a sign-in, so the device has one.
      let hasSignIn = record.flow.state.approval != nil ? true : known.hasEarlierSignIn
      tables.replace(known, known.moved(to: record, hasEarlierSignIn: hasSignIn))
      tables.noteEnd(of: record, clock.uptime)
    }
  }

  /// Notes the state of a code that was read from the store, because another node may have changed it.
  func learn(_ record: RegistrationRecord) { note(record) }

  /// Notes that a device was signed in without a code.
  package func noteSignIn(of device: DeviceHash, at requestor: RequestorID) {
    tables.withLock { $0.signIns += 1 }
    noteSignIn(true, of: device, at: requestor)
  }

  /// Notes with a device's newest code whether the device is signed in; nil when that is no longer known.
  package func noteSignIn(
    _ isSignedIn: Bool?, of device: DeviceHash, at requestor: RequestorID, asOf signIns: Int? = nil
  ) {
    tables.withLock { tables in
      // An outdated "no" is not noted: if a device was signed in since the store was asked, it may have been this one.
      guard isSignedIn == nil || tables.believed(isSignedIn, asOf: signIns) != nil,
        let known = tables.latest[DeviceKey(requestor: requestor, device: device)]?.known,
        known.hasEarlierSignIn != isSignedIn
      else { return }
      tables.replace(known, known.moved(to: known.record, hasEarlierSignIn: isSignedIn))
    }
  }

  /// Discards what memory knows about the sign-ins of all devices.
  ///
  /// The next poll of each device asks the store.
  func noteUnknownSignIns() {
    tables.withLock { tables in
      tables.signIns += 1
      for known in tables.codes.values where known.hasEarlierSignIn != nil {
        tables.replace(known, known.moved(to: known.record, hasEarlierSignIn: nil))
      }
    }
  }

  /// Finds a code of one requestor in memory; codes of other requestors are not found.
  package func find(_ code: CodeHash, of requestor: RequestorID) -> RegistrationRecord? {
    guard let record = find(code), record.requestor == requestor else { return nil }
    return record
  }

  /// Finds a code of any requestor in memory, for the phone's pages.
  package func find(_ code: CodeHash) -> RegistrationRecord? {
    let now = clock.now
    return tables.withLock { tables in
      guard let id = tables.ids[code], let known = tables.codes[id] else { return nil }
      return tables.look(at: known, now, clock.uptime).record
    }
  }

  package func find(_ id: RegistrationID) -> RegistrationRecord? { cached(id)?.record }

  package func cached(_ id: RegistrationID) -> CachedCode? {
    let now = clock.now
    return tables.withLock { tables in tables.codes[id].map { tables.look(at: $0, now, clock.uptime) } }
  }

  /// The newest code of a device in memory that belongs to this owner; of any owner if `owner` is nil.
  package func latest(of device: DeviceHash, at requestor: RequestorID, by owner: SignInOwner? = nil) -> CachedCode? {
    let now = clock.now
    return tables.withLock { tables in
      tables.newest(of: device, at: requestor, by: owner).map { tables.look(at: $0, now, clock.uptime) }
    }
  }

  /// Whether a device's newest code is pending and the device has no earlier sign-in.
  ///
  /// A code of another owner does not count; a nil `owner` skips this check. A code that an earlier owner made counts
  /// if it now belongs to this owner: the rows of this owner then replace the rows of the earlier owner.
  package func waits(
    _ device: DeviceHash, at requestor: RequestorID, by owner: SignInOwner? = nil, _ now: Instant
  ) -> Bool {
    tables.withLock { tables in
      guard let newest = tables.latest[DeviceKey(requestor: requestor, device: device)],
        let end = newest.waitsUntil, owner?.owns(newest.known.record.about) ?? true
      else { return false }
      return now < end
    }
  }

  /// Removes from memory the codes whose rows were signed by revoked key pairs; the store no longer returns these rows.
  package func forget(signedBy rowKeys: Set<PublicKey>) {
    tables.withLock { tables in
      for known in tables.codes.values where rowKeys.contains(known.record.rowKey) { tables.drop(known) }
    }
  }

  /// Removes from memory a code that the store no longer has.
  package func forget(_ id: RegistrationID) {
    tables.withLock { tables in
      if let known = tables.codes[id] { tables.drop(known) }
    }
  }

  /// Call this before the store approves a code.
  ///
  /// Until ``endApproval(of:)``, memory does not report the code as expired.
  ///
  /// - Returns: false when the code has expired. Every later request is then told that it has expired.
  func beginApproval(of id: RegistrationID, at now: Instant) -> Bool {
    tables.withLock { tables in
      if let known = tables.codes[id], case .expired = tables.look(at: known, now, clock.uptime).record.flow.state {
        return false
      }
      tables.approving[id, default: 0] += 1
      return true
    }
  }

  /// Call this after the approved code was noted here (``note(_:)``).
  func endApproval(of id: RegistrationID) {
    tables.withLock { tables in
      let left = tables.approving[id, default: 1] - 1
      tables.approving[id] = left > 0 ? left : nil
    }
  }

  /// The ids of all codes in memory.
  var ids: [RegistrationID] { tables.withLock { Array($0.codes.keys) } }

  /// Removes and returns the evicted codes that the store must still delete, when there are at least `count`.
  func takeGiven(atLeast count: Int = 1) -> [RegistrationID] {
    tables.withLock { tables in
      guard tables.given.count >= count else { return [] }
      defer { tables.given = [] }
      return tables.given
    }
  }

  /// Puts evicted codes back that the store failed to delete, for the next attempt.
  func giveBack(_ given: [RegistrationID]) {
    tables.withLock { $0.given += given.prefix(max(0, Self.mostGiven - $0.given.count)) }
  }

  /// Whether memory has room for what one more device reports about itself.
  ///
  /// A code works without it.
  package var hasRoomForDescriptions: Bool { tables.withLock { $0.described < Self.mostDescribed } }

  /// The pending codes that OAuth clients requested, by client.
  func pendingOfClients() -> [ClientID: [RegistrationID]] {
    tables.withLock { tables in
      tables.codes.values.reduce(into: [:]) { codes, known in
        guard let client = known.record.about.asked?.client, known.record.flow.state.isPending else { return }
        codes[client, default: []].append(known.record.id)
      }
    }
  }

  /// The number of entries in the tables that say when each code must be checked.
  var notes: Int { tables.withLock { $0.entries } }

  /// The number of codes in memory, in any state.
  package var remembered: Int { tables.withLock { $0.codes.count } }

  /// The number of pending codes.
  ///
  /// It includes codes that expired up to some seconds ago.
  package var pending: Int { tables.withLock { $0.pending } }

  /// Removes codes that have ended from memory.
  ///
  /// - Returns: how many codes expired since the last call.
  package func sweep(at now: Instant) -> Int {
    // Codes are processed in batches of 500, so that no poll waits while a whole minute's codes are processed.
    let uptime = clock.uptime
    while tables.withLock({ $0.sweep(at: now, uptime, limit: 500) }) {}
    while tables.withLock({ $0.sweepAges(at: uptime, limit: 500) }) {}
    return tables.withLock { tables in
      defer { tables.expired = 0 }
      return tables.expired
    }
  }
}
