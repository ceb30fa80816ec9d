package import Pairing
package import PairingStore
internal import Platform

/// The codes that are remembered, in memory: what polls look at without touching a disk.
///
/// The store is the truth that survives; this is what it said last. Verbs of the store tell every change here
/// (`PairingDesk`), and a restart loads all of it again.
package final class LiveCodes: Sendable {
  /// A code and what is known about its device besides.
  ///
  /// An object, because every poll is handed one: a record has so many parts that copying it costs more than the poll's
  /// other work. A change is a new object.
  package final class Known: Sendable {
    /// The registration.
    package let record: RegistrationRecord
    /// Whether the device may be signed in from before; nil until somebody looked.
    package let hasEarlierSignIn: Bool?

    fileprivate init(_ record: RegistrationRecord, hasEarlierSignIn: Bool?) {
      self.record = record
      self.hasEarlierSignIn = hasEarlierSignIn
    }
  }

  fileprivate struct DeviceKey: Hashable {
    let requestor: RequestorID
    let device: DeviceHash
  }

  fileprivate struct Tables {
    var codes: [RegistrationID: Known] = [:]
    var ids: [CodeHash: RegistrationID] = [:]
    /// The newest code of each device.
    var latest: [DeviceKey: RegistrationID] = [:]
    /// What is to be looked at when a minute has passed, so that no sweep walks over everything.
    var due: [Int64: [RegistrationID]] = [:]
    /// How many codes of each requestor wait for an answer.
    var pending: [RequestorID: Int] = [:]
    /// How many ran out of time since the last sweep told.
    var expired = 0
  }

  private let tables = Locked(Tables())
  private let clock: ServiceClock

  /// No codes.
  package init(clock: ServiceClock) { self.clock = clock }

  /// A new code, or one that the store remembered over a restart.
  package func add(_ record: RegistrationRecord, hasEarlierSignIn: Bool?) {
    tables.withLock { tables in
      // Its withdrawal by a newer code may have been told first: an old look must not bring it back to life.
      if let known = tables.codes[record.id], !record.flow.isNewer(than: known.record.flow) {
        tables.codes[record.id] = Known(known.record, hasEarlierSignIn: hasEarlierSignIn)
      } else {
        tables.put(Known(record, hasEarlierSignIn: hasEarlierSignIn))
      }
    }
  }

  /// What a verb made of a code.
  ///
  /// Two verbs may tell their results in another order than they ran in: the one with the higher sequence stays.
  package func note(_ record: RegistrationRecord) {
    tables.withLock { tables in
      guard let known = tables.codes[record.id] else {
        return tables.put(Known(record, hasEarlierSignIn: nil))
      }
      guard record.flow.isNewer(than: known.record.flow) else { return }
      if known.record.flow.state.isPending, !record.flow.state.isPending {
        tables.pending[record.requestor, default: 0] -= 1
      }
      // The sign-in that a code led to takes the place of earlier ones.
      let hasSignIn = record.flow.state.approval != nil ? true : known.hasEarlierSignIn
      tables.codes[record.id] = Known(record, hasEarlierSignIn: hasSignIn)
    }
  }

  /// Notes whether a device is signed in, for its newest code.
  package func noteSignIn(_ isSignedIn: Bool, of device: DeviceHash, at requestor: RequestorID) {
    tables.withLock { tables in
      guard let id = tables.latest[DeviceKey(requestor: requestor, device: device)],
        let known = tables.codes[id], known.hasEarlierSignIn != isSignedIn
      else { return }
      tables.codes[id] = Known(known.record, hasEarlierSignIn: isSignedIn)
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
      guard let id = tables.ids[code] else { return nil }
      return tables.look(at: id, now)?.record
    }
  }

  /// A registration by its id.
  package func find(_ id: RegistrationID) -> RegistrationRecord? {
    let now = clock.now
    return tables.withLock { $0.look(at: id, now)?.record }
  }

  /// The newest code of a device.
  package func latest(of device: DeviceHash, at requestor: RequestorID) -> Known? {
    let now = clock.now
    return tables.withLock { tables in
      guard let id = tables.latest[DeviceKey(requestor: requestor, device: device)] else {
        return nil
      }
      return tables.look(at: id, now)
    }
  }

  /// Lets go of the codes whose rows a revoked key pair signed: the store does not know them any more either.
  package func forget(signedBy rowKeys: Set<PublicKey>) {
    tables.withLock { tables in
      for known in tables.codes.values where rowKeys.contains(known.record.rowKey) {
        if known.record.flow.state.isPending {
          tables.pending[known.record.requestor, default: 0] -= 1
        }
        tables.forget(known.record)
      }
    }
  }

  /// How many codes wait for an answer, those included whose time has run out in the last minute.
  package var pending: Int { tables.withLock { $0.pending.values.reduce(0, +) } }

  /// The same for one requestor.
  package func pending(of requestor: RequestorID) -> Int {
    tables.withLock { $0.pending[requestor] ?? 0 }
  }

  /// Lets go of what has come to its end.
  ///
  /// - Returns: how many codes ran out of time unanswered since the last call.
  package func sweep(at now: Instant) -> Int {
    // In pieces: no poll waits while all codes of a busy minute are gone through.
    while tables.withLock({ $0.sweep(at: now, limit: 500) }) {}
    return tables.withLock { tables in
      defer { tables.expired = 0 }
      return tables.expired
    }
  }
}

extension LiveCodes.Tables {
  fileprivate mutating func put(_ known: LiveCodes.Known) {
    let record = known.record
    var change = record.flow.state.isPending ? 1 : 0
    if let before = codes[record.id], before.record.flow.state.isPending { change -= 1 }
    if change != 0 { pending[record.requestor, default: 0] += change }
    codes[record.id] = known
    ids[record.code] = record.id
    let key = LiveCodes.DeviceKey(requestor: record.requestor, device: record.deviceHash)
    let newest = latest[key].flatMap { codes[$0]?.record }
    if newest.map({ record.takesThePlace(of: $0) }) ?? true { latest[key] = record.id }
    due[record.flow.expires.minute + 1, default: []].append(record.id)
    due[record.flow.forgettable.minute + 1, default: []].append(record.id)
  }

  /// A code as it is now.
  ///
  /// Once somebody was told that it has expired it stays so, even when the clock is set back.
  fileprivate mutating func look(at id: RegistrationID, _ now: Instant) -> LiveCodes.Known? {
    guard let known = codes[id] else { return nil }
    let flow = known.record.flow
    guard flow.state.isPending, now >= flow.expires else { return known }
    expired += 1
    pending[known.record.requestor, default: 0] -= 1
    let settled = LiveCodes.Known(
      known.record.moved(to: flow.settled(at: now)), hasEarlierSignIn: known.hasEarlierSignIn)
    codes[id] = settled
    return settled
  }

  /// - Returns: false when there was nothing left to look at.
  fileprivate mutating func sweep(at now: Instant, limit: Int) -> Bool {
    // After a jump of the clock the keys that exist are fewer than the minutes in between.
    guard let minute = due.keys.filter({ $0 <= now.minute }).min() else { return false }
    for _ in 0..<limit {
      guard let id = due[minute]?.popLast() else {
        due[minute] = nil
        break
      }
      guard let known = look(at: id, now) else { continue }
      if now >= known.record.flow.forgettable { forget(known.record) }
    }
    return true
  }

  fileprivate mutating func forget(_ record: RegistrationRecord) {
    codes[record.id] = nil
    if ids[record.code] == record.id { ids[record.code] = nil }
    let key = LiveCodes.DeviceKey(requestor: record.requestor, device: record.deviceHash)
    if latest[key] == record.id { latest[key] = nil }
  }
}

extension RegistrationRecord {
  /// Whether this is the code to answer a device with rather than `other`, which it had before.
  ///
  /// A device has one pending code at most; two that were asked for at the same time are not always told in their order.
  fileprivate func takesThePlace(of other: RegistrationRecord) -> Bool {
    let (mine, theirs) = (flow.state.isPending, other.flow.state.isPending)
    return mine == theirs ? flow.issued >= other.flow.issued : mine
  }
}

extension Instant {
  fileprivate var minute: Int64 { milliseconds / 60_000 }
}

extension PairingFlow {
  /// Whether this is a later state of the same code; a longer lease is one, too.
  fileprivate func isNewer(than other: PairingFlow) -> Bool {
    if sequence != other.sequence { return sequence > other.sequence }
    // Memory alone said "expired" while the store was just writing something else at the same step.
    if case .expired = other.state { return state.status != .expired && !state.isPending }
    guard case .claimed(let mine) = state, case .claimed(let theirs) = other.state else {
      return false
    }
    return mine.until > theirs.until
  }
}
