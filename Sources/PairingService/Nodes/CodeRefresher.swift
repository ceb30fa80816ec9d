package import PairingStore
package import RegentPairing

/// Reads codes from the store when this node's memory may be outdated because another node has written.
///
/// Memory alone may answer "not yet", because this node will be told of a change in a moment. "No such code" and every
/// end of a code are reported only after reading the store. Expiry is reported only after the store has recorded it,
/// because another node may be approving the code at this moment. The only node of a service is never outdated and
/// never reads.
package struct CodeRefresher: Sendable {
  /// The maximum number of codes that are read at once, so that a thousand changes need few queries.
  static let most = 256
  private let store: any NodeStore
  private let codes: LiveCodes
  private let clock: ServiceClock
  package let areNeeded: Bool

  init(_ store: any NodeStore, _ codes: LiveCodes, clock: ServiceClock) {
    self.store = store
    self.codes = codes
    self.clock = clock
    areNeeded = store.isShared
  }

  /// Whether the store must be read before a request about this code is answered.
  ///
  /// When this process is the only node, `record` is not evaluated, which saves the lookup.
  package func mustLook(at record: @autoclosure () -> RegistrationRecord?) -> Bool {
    guard areNeeded else { return false }
    guard let record = record() else { return true }
    return !record.flow.settled(at: clock.now).state.isPending
  }

  /// Reads a code from the store, unless memory has it as pending.
  package func look(at code: CodeHash) async throws(StoreError) {
    guard mustLook(at: codes.find(code)) else { return }
    if let record = try await store.registration(under: code, at: clock.now) { try await learn(record) }
  }

  /// Reads a code from the store even if it is pending in memory: a phone's page must show a change from a moment ago,
  /// perhaps at another node.
  package func lookAfresh(at code: CodeHash) async throws(StoreError) {
    guard areNeeded else { return }
    if let record = try await store.registration(under: code, at: clock.now) {
      try await learn(record)
    } else if let known = codes.find(code) {
      codes.forget(known.id)
    }
  }

  /// Reads a registration from the store, unless it is pending in memory.
  package func look(at id: RegistrationID) async throws(StoreError) {
    guard mustLook(at: codes.find(id)) else { return }
    guard let record = try await store.registrations([id], at: clock.now).first else { return codes.forget(id) }
    try await learn(record)
  }

  /// Reads the code of a device from the store, unless memory has a pending one of this owner.
  ///
  /// - Returns: whether a code was read.
  @discardableResult
  package func look(
    at device: DeviceHash, of requestor: RequestorID, by owner: SignInOwner
  ) async throws(StoreError) -> Bool {
    guard mustLook(at: codes.latest(of: device, at: requestor, by: owner)?.record) else { return false }
    if let record = try await store.registration(of: device, at: requestor, at: clock.now) {
      try await learn(record)
      if owner.made(record.about) { return true }
    }
    guard let own = owner.separateHash(of: device),
      let record = try await store.registration(of: own, at: requestor, at: clock.now)
    else { return codes.latest(of: device, at: requestor, by: owner) != nil }
    try await learn(record)
    return true
  }

  /// Updates memory with a row of the store.
  ///
  /// If the code's lifetime is over, the store records its expiry first, which happens once.
  private func learn(_ record: RegistrationRecord) async throws(StoreError) {
    let now = clock.now
    guard record.flow.state.isPending, now >= record.flow.expires else { return codes.learn(record) }
    guard let ended = try await store.expire(record.id, at: now) else { return codes.forget(record.id) }
    codes.learn(ended)
  }

  /// Reads registrations from the store even if they are pending in memory, and removes from memory those that no
  /// longer exist.
  func lookAgain(at ids: [RegistrationID]) async throws(StoreError) {
    var left = ids[...]
    while !left.isEmpty {
      let asked = Array(left.prefix(Self.most))
      let found = try await store.registrations(asked, at: clock.now)
      for record in found { codes.learn(record) }
      for id in Set(asked).subtracting(found.map(\.id)) { codes.forget(id) }
      left = left.dropFirst(Self.most)
    }
  }
}
