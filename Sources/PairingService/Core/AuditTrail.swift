package import RegentHTTPCodec
package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// Writes audit lines that belong to no transaction of the store: refusals, failed sign-ins, throttling.
///
/// An action that changes the database writes its line in its own transaction. The lines here are written after the
/// response is sent, so that no client waits for them. They are limited, so that a flood of refusals does not become a
/// flood of disk writes.
package final class AuditTrail: Sendable {
  /// The audit lines of the last minute that addresses in one bucket caused.
  fileprivate struct Recent {
    var lines: [String: Uptime] = [:]
    var waiting = 0
  }

  /// An identical audit line is not written again within this time.
  fileprivate static let quiet: Duration = .seconds(60)
  /// The number of buckets among which network addresses are spread.
  ///
  /// A client that fills its bucket suppresses only the audit lines of addresses in the same bucket.
  private static let buckets = 256
  /// How many audit lines of one bucket may wait to be written; further ones are dropped.
  private static let mostWaiting = 16
  fileprivate static let mostRemembered = 64

  private let store: any AuditStore
  private let clock: ServiceClock
  private let log: ServiceLog
  private let recent = Locked([Recent](repeating: Recent(), count: AuditTrail.buckets))
  private let budgets = Locked(AuditBudgets())

  init(_ store: any AuditStore, clock: ServiceClock, log: ServiceLog) {
    self.store = store
    self.clock = clock
    self.log = log
  }

  /// Makes an audit line that a transaction of the store writes.
  package func entry(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String,
    _ outcome: AuditEntry.Outcome = .done, detail: String = ""
  ) -> AuditEntry {
    AuditEntry(
      at: clock.now, actor: actor, action: action, subject: subject, outcome: outcome,
      detail: detail)
  }

  /// Makes an audit line about an action that clients may perform without authentication, as often as they like.
  ///
  /// Returns nil, and counts the line as left out, when it exceeds the limits of ``AuditBudgets``.
  package func strangerEntry(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String, detail: String, at requestor: RequestorID?,
    from address: IPAddress?
  ) -> AuditEntry? {
    let (now, source) = (clock.uptime, SourceKey(address))
    guard budgets.withLock({ $0.take(action, at: requestor, from: source, now: now) }) else { return nil }
    return entry(actor, action, subject, detail: detail)
  }

  /// Makes an audit line about an action of a viewer.
  ///
  /// Returns nil for a guest whose line exceeds the limits of ``AuditBudgets``, because a guest needs no account.
  func entry(
    of viewer: Viewer, _ action: String, _ subject: String, detail: String = "", at requestor: RequestorID? = nil,
    from address: IPAddress?
  ) -> AuditEntry? {
    viewer.account == nil
      ? strangerEntry(.viewer(viewer), action, subject, detail: detail, at: requestor, from: address)
      : entry(.viewer(viewer), action, subject, detail: detail)
  }

  /// Writes the counts of audit lines that ``strangerEntry(_:_:_:detail:at:from:)`` left out, as one line for each
  /// action and requestor.
  ///
  /// `all` includes counts that are not old enough yet, for a service that stops.
  package func tellCounted(all: Bool = false) async {
    let now = clock.uptime
    for (kind, count) in budgets.withLock({ $0.due(at: now, all: all) }) {
      let seconds = max(now.since(count.since).components.seconds, 1)
      let line = entry(
        .service, kind.action, kind.requestor?.text ?? "several requestors",
        detail: "\(count.lines) more events of this kind within \(seconds) seconds were counted and not listed")
      if await !append(line) { budgets.withLock { $0.putBack(count, of: kind) } }
    }
  }

  /// The number of audit lines that wait to be written.
  package var linesUnderWay: Int { recent.withLock { $0.reduce(0) { $0 + $1.waiting } } }

  /// Writes an audit line and waits until it is stored.
  ///
  /// For actions of operators, who may read the log next.
  package func write(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String,
    _ outcome: AuditEntry.Outcome = .done, detail: String = ""
  ) async {
    await append(entry(actor, action, subject, outcome, detail: detail))
  }

  /// Stores an audit line; false when it could not be written.
  @discardableResult
  private func append(_ line: AuditEntry) async -> Bool {
    do throws(StoreError) {
      try await store.append(line)
      return true
    } catch {
      log.warning("audit", ("action", line.action), ("reason", "\(error)"))
      return false
    }
  }

  /// Writes an audit line after the response is sent.
  ///
  /// With `once`, the same action on the same subject is written at most once a minute; with `onceFor`, the same action
  /// with that key. The line counts towards the limit of `address`, or of the subject when there is no address.
  package func note(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String,
    _ outcome: AuditEntry.Outcome = .done, detail: String = "", once: Bool = false,
    onceFor thing: String? = nil, from address: IPAddress? = nil
  ) {
    note(
      entry(actor, action, subject, outcome, detail: detail), onceFor: thing ?? (once ? subject : nil), from: address)
  }

  /// Writes an audit line that was made before (``strangerEntry(_:_:_:detail:at:from:)``), after the response is sent.
  package func note(_ line: AuditEntry, onceFor key: String? = nil, from address: IPAddress?) {
    let now = clock.uptime
    let bucket = Self.bucket(of: address, line.subject)
    let isWanted = recent.withLock { recent -> Bool in
      if let key, !recent[bucket].isNew("\(line.action) \(key)", at: now) { return false }
      guard recent[bucket].waiting < Self.mostWaiting else { return false }
      recent[bucket].waiting += 1
      return true
    }
    guard isWanted else { return }
    Task { [self] in
      do throws(StoreError) {
        try await store.append(line)
      } catch .diskFull where line.isOfStranger {
        // On the reserve of the disk such lines are counted only. A log message for each would fill the disk, too.
        budgets.withLock { $0.leaveOut(line.action, at: nil, now: clock.uptime) }
      } catch {
        log.warning("audit", ("action", line.action), ("reason", "\(error)"))
      }
      recent.withLock { $0[bucket].waiting -= 1 }
    }
  }

  /// The bucket in which lines of an address are limited, or lines of the subject when there is no address.
  ///
  /// Swift seeds its hashes anew in every process, so an attacker cannot know which addresses share a bucket. An
  /// attacker with hundreds of addresses still hits other buckets by chance; lines in those buckets are then left out.
  private static func bucket(of address: IPAddress?, _ subject: String) -> Int {
    let hash = address == nil ? subject.hashValue : SourceKey(address).network.hashValue
    return Int(UInt(bitPattern: hash) % UInt(buckets))
  }
}

extension AuditTrail.Recent {
  fileprivate mutating func isNew(_ line: String, at now: Uptime) -> Bool {
    if let last = lines[line], now.since(last) < AuditTrail.quiet { return false }
    if lines.count >= AuditTrail.mostRemembered {
      lines = lines.filter { now.since($0.value) < AuditTrail.quiet }
      // Thousands of different lines within a minute must come from an attacker, so further ones are left out.
      guard lines.count < AuditTrail.mostRemembered else { return false }
    }
    lines[line] = now
    return true
  }
}
