package import RegentHTTPCodec
package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// Audit lines that belong to no transaction of their own: refusals, failed sign-ins, throttling.
///
/// What changes something carries its line inside its own transaction. These here are written behind the answer: nobody
/// waits for them, and a flood of refusals must not become a flood of disk writes.
package final class AuditTrail: Sendable {
  /// What one bucket of sources has caused.
  fileprivate struct Recent {
    var lines: [String: Uptime] = [:]
    var waiting = 0
  }

  /// The same line again within this time says nothing new.
  fileprivate static let quiet: Duration = .seconds(60)
  /// Sources share so many buckets: who fills his own leaves out nobody's lines but those of who shares it.
  private static let buckets = 256
  /// More lines of a bucket than that are not kept waiting.
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

  /// A line for a transaction that carries it.
  package func entry(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String,
    _ outcome: AuditEntry.Outcome = .done, detail: String = ""
  ) -> AuditEntry {
    AuditEntry(
      at: clock.now, actor: actor, action: action, subject: subject, outcome: outcome,
      detail: detail)
  }

  /// A line about what strangers may do as often as they like; nothing when their share is used up, and then it is
  /// counted.
  package func strangerEntry(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String, detail: String, at requestor: RequestorID,
    from address: IPAddress?
  ) -> AuditEntry? {
    let (now, source) = (clock.uptime, SourceKey(address))
    guard budgets.withLock({ $0.take(action, at: requestor, from: source, now: now) }) else { return nil }
    return entry(actor, action, subject, detail: detail)
  }

  /// Tells, one line for each action and requestor, how many lines were left out; `all` for a service that ends.
  package func tellCounted(all: Bool = false) async {
    let now = clock.uptime
    for (kind, count) in budgets.withLock({ $0.due(at: now, all: all) }) {
      let seconds = max(now.since(count.since).components.seconds, 1)
      await write(
        .service, kind.action, kind.requestor?.text ?? "several requestors",
        detail: "\(count.lines) more within \(seconds) seconds: counted, not listed")
    }
  }

  /// Lines that are promised and not written yet.
  package var linesUnderWay: Int { recent.withLock { $0.reduce(0) { $0 + $1.waiting } } }

  /// Writes a line before the answer: for acts of operators, who may look it up next.
  package func write(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String,
    _ outcome: AuditEntry.Outcome = .done, detail: String = ""
  ) async {
    await append(entry(actor, action, subject, outcome, detail: detail))
  }

  private func append(_ line: AuditEntry) async {
    do throws(StoreError) {
      try await store.append(line)
    } catch {
      log.warning("audit", ("action", line.action), ("reason", "\(error)"))
    }
  }

  /// Writes a line behind the answer; with `once` the same action on the same subject is written once a minute, with
  /// `onceFor` that on the same such thing.
  ///
  /// The address is whose share of lines it is; where there is none, the subject has a share.
  package func note(
    _ actor: AuditEntry.Actor, _ action: String, _ subject: String,
    _ outcome: AuditEntry.Outcome = .done, detail: String = "", once: Bool = false,
    onceFor thing: String? = nil, from address: IPAddress? = nil
  ) {
    note(
      entry(actor, action, subject, outcome, detail: detail), onceFor: thing ?? (once ? subject : nil), from: address)
  }

  /// Writes a line behind the answer that was made before, as ``strangerEntry(_:_:_:detail:at:from:)`` makes it.
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
      await append(line)
      recent.withLock { $0[bucket].waiting -= 1 }
    }
  }

  /// Swift's hash is keyed anew in every process: nobody knows which address shares a bucket with which.
  ///
  /// Whoever has hundreds of addresses fills some buckets by chance, and their lines are then left out.
  private static func bucket(of address: IPAddress?, _ subject: String) -> Int {
    let hash = SourceKey(address)?.network.hashValue ?? subject.hashValue
    return Int(UInt(bitPattern: hash) % UInt(buckets))
  }
}

extension AuditTrail.Recent {
  fileprivate mutating func isNew(_ line: String, at now: Uptime) -> Bool {
    if let last = lines[line], now.since(last) < AuditTrail.quiet { return false }
    if lines.count >= AuditTrail.mostRemembered {
      lines = lines.filter { now.since($0.value) < AuditTrail.quiet }
      // Thousands of different lines within a minute are made up by an attacker; further ones are left out.
      guard lines.count < AuditTrail.mostRemembered else { return false }
    }
    lines[line] = now
    return true
  }
}
