public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret {
    if let there = material[purpose] { return there }
    var generator = SystemRandomNumberGenerator()
    let made = StoredSecret((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    material[purpose] = made
    return made
  }

  public func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    guard records.requestors[pair.requestor] != nil else { throw .notFound(what: "requestor") }
    if let there = records.keyPairs[pair.publicKey] {
      guard there == pair else { throw .changedMeanwhile(what: "key pair") }
      return
    }
    if pair.purpose == .rows {
      for earlier in records.keyPairs.values
      where earlier.requestor == pair.requestor && earlier.purpose == .rows
        && earlier.state == .active
      {
        records.keyPairs[earlier.publicKey] = earlier.with(.retired)
      }
    }
    records.keyPairs[pair.publicKey] = pair
    note(entry)
  }

  public func setState(
    of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    guard let pair = records.keyPairs[publicKey] else { throw .notFound(what: "key pair") }
    guard pair.state.mayBecome(state) else { throw .changedMeanwhile(what: "key pair") }
    records.keyPairs[publicKey] = pair.with(state)
    note(entry)
    guard pair.purpose == .rows, state == .revoked else { return }
    for record in registrations.values where record.rowKey == publicKey {
      registrations[record.id] = nil
      codes[record.code] = nil
    }
    _ = endAuthentications { $0.rowKey == publicKey }
  }

  public func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    if let there = signing[key.id] {
      guard there == key else { throw .changedMeanwhile(what: "signing key") }
      return
    }
    signing[key.id] = key
    note(entry)
  }

  public func retireSigningKey(
    _ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    guard let key = signing[id] else { throw .notFound(what: "signing key") }
    // The first retirement counts, so that a repeated call cannot unpublish a key early.
    guard key.retired == nil else { return }
    signing[id] = key.retired(at: now, neededUntil: neededUntil)
    note(entry)
  }

  public func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
    signing.values.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  public func append(_ entry: AuditEntry) async throws(StoreError) { log.append(entry) }

  public func audit(after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    numbered.filter { $0.number > number }.prefix(limit).map(\.self)
  }

  private var numbered: [NumberedAuditEntry] {
    log.enumerated().map { NumberedAuditEntry(number: Int64($0 + forgotten) + 1, entry: $1) }
      .filter { !dropped.contains($0.number) }
  }

  public func newestAuditNumber() async throws(StoreError) -> Int64 { Int64(forgotten + log.count) }

  public func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int)
    async throws(StoreError) -> Int
  {
    let newest = Int64(forgotten + log.count)
    let old = numbered.prefix(limit).prefix { retention.isOld($0.entry.at, newer: newest - $0.number, at: now) }
    if let last = old.last {
      forget(upTo: last.number)
      return old.count
    }
    let surplus = min(limit, Int(clamping: Int64(numbered.count) - retention.most))
    guard surplus > 0 else { return 0 }
    let strangers = numbered.filter(\.entry.isOfStranger).prefix(surplus).map(\.number)
    dropped.formUnion(strangers)
    if strangers.isEmpty { forget(upTo: numbered[surplus - 1].number) }
    return max(strangers.count, strangers.isEmpty ? surplus : 0)
  }

  private func forget(upTo number: Int64) {
    log.removeFirst(Int(number) - forgotten)
    forgotten = Int(number)
    dropped = dropped.filter { $0 > number }
  }

  /// Does nothing, because memory is always writable.
  public func tryWriting() async throws(StoreError) {}

  public func keepNumbers(_ text: String, as kind: StoredCounters, of node: NodeID?) async throws(StoreError) {
    numbers[kind, default: [:]][node] = text
  }

  public func keptNumbers(_ kind: StoredCounters, of node: NodeID?) async throws(StoreError) -> String? {
    numbers[kind]?[node]
  }

  public func keptNumbersOfNodes(_ kind: StoredCounters) async throws(StoreError) -> [NodeID: String] {
    (numbers[kind] ?? [:]).reduce(into: [:]) { found, kept in
      if let node = kept.key { found[node] = kept.value }
    }
  }

  public func forgetExpired(at now: Instant, limit: Int, passes most: Int, failures mostFailures: Int)
    async throws(StoreError) -> Int
  {
    var left = limit
    func take<Key: Hashable>(_ keys: [Key], _ forget: (Key) -> Void) {
      for key in keys.prefix(left) {
        forget(key)
        left -= 1
      }
    }
    take(registrations.values.filter { $0.flow.forgettable <= now }) {
      registrations[$0.id] = nil
      if codes[$0.code] == $0.id { codes[$0.code] = nil }
    }
    let ended = now - CodeLifetime.remembrance
    take(authentications.values.filter { $0.authentication.expires <= ended }) {
      authentications[$0.authentication.id] = nil
      permits[$0.authentication.id] = nil
      endGrants(of: $0.authentication.id)
    }
    take(permits.values.joined().map(\.value.permit).filter { !$0.isValid(at: ended) }) {
      permits[$0.authentication]?[$0.resource] = nil
    }
    take(usedRequests.filter { $0.value <= now - PlatformExchange.remembrance }.map(\.key)) { usedRequests[$0] = nil }
    take(sessions.values.filter { !$0.isValid(at: now) }) { sessions[$0.id] = nil }
    take(enrolments.values.filter { $0.expires <= now }.map(\.id)) { enrolments[$0] = nil }
    take(clientInvitations.values.filter { $0.expires <= now }.map(\.id)) { clientInvitations[$0] = nil }
    take(oauthClients.values.filter { $0.isForgotten(at: now) }.map(\.id)) { oauthClients[$0] = nil }
    take(failures.filter { now.since($0.value.last) >= LoginThrottle.memory }.map(\.key)) {
      failures[$0] = nil
    }
    if otherFailures.map({ now.since($0.last) >= LoginThrottle.memory }) ?? false { otherFailures = nil }
    take(signing.values.filter { $0.neededUntil.map { $0 <= now } ?? false }.map(\.id)) {
      signing[$0] = nil
    }
    // The passes in the order of their start.
    let old = passes.sorted { ($0.value.started ?? now) < ($1.value.started ?? now) }
      .dropLast(max(0, most))
    take(old.filter { isOver($0.value, at: $0.key.provider, now) }.map(\.key)) { passes[$0] = nil }
    let least = failures.sorted { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }
      .dropLast(max(0, mostFailures)).prefix(left)
    if let greatest = least.last?.value.count {
      otherFailures = LoginThrottle.others(otherFailures, forgetting: greatest, at: now)
    }
    take(least.map(\.key)) { failures[$0] = nil }
    return limit - left
  }

  private func isOver(_ use: TemporaryPassUse, at provider: ProviderID, _ now: Instant) -> Bool {
    guard let rules = records.providers[provider]?.temporaryPass else { return true }
    return rules.expires(use, at: now) <= now
  }
}
