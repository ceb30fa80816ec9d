package import PairingStore
package import RegentPairing

/// Looks into the store for codes of which this node's memory may not have the last word.
///
/// Another node may have written since. Memory may say "not yet", as it will hear of the change in a moment; "no such
/// code" and every end are told only after a look, and that a code's time is over only when the store has written it
/// down: another node may be approving it at this moment. With a store of its own a node knows all there is, and never
/// looks.
package struct CodeLooks: Sendable {
  /// Rows of one look, so that a thousand changes are a few questions.
  static let most = 256
  private let store: any NodeStore
  private let codes: LiveCodes
  private let clock: ServiceClock
  /// Whether other nodes write to the store.
  package let areNeeded: Bool

  init(_ store: any NodeStore, _ codes: LiveCodes, clock: ServiceClock) {
    self.store = store
    self.codes = codes
    self.clock = clock
    areNeeded = store.isShared
  }

  /// Whether memory alone cannot answer for this code, for which nobody searches where that is never so.
  package func mustLook(at record: @autoclosure () -> RegistrationRecord?) -> Bool {
    guard areNeeded else { return false }
    guard let record = record() else { return true }
    return !record.flow.settled(at: clock.now).state.isPending
  }

  /// Looks at a code, unless memory has it waiting.
  package func look(at code: CodeHash) async throws(StoreError) {
    guard mustLook(at: codes.find(code)) else { return }
    if let record = try await store.registration(under: code, at: clock.now) { try await learn(record) }
  }

  /// Looks at a code whatever memory says: a page of the phone shows what was done to it a moment ago, perhaps at
  /// another node.
  package func lookAfresh(at code: CodeHash) async throws(StoreError) {
    guard areNeeded else { return }
    if let record = try await store.registration(under: code, at: clock.now) {
      try await learn(record)
    } else if let known = codes.find(code) {
      codes.forget(known.id)
    }
  }

  /// Looks at a registration, unless memory has it waiting.
  package func look(at id: RegistrationID) async throws(StoreError) {
    guard mustLook(at: codes.find(id)) else { return }
    guard let record = try await store.registrations([id], at: clock.now).first else { return codes.forget(id) }
    try await learn(record)
  }

  /// Looks at the code that answers for a device, unless memory has one waiting.
  ///
  /// - Returns: whether there was something to look at.
  @discardableResult
  package func look(at device: DeviceHash, of requestor: RequestorID) async throws(StoreError) -> Bool {
    guard mustLook(at: codes.latest(of: device, at: requestor)?.record) else { return false }
    guard let record = try await store.registration(of: device, at: requestor, at: clock.now) else { return false }
    try await learn(record)
    return true
  }

  /// Makes memory know what the store has; a code whose time is over is ended there first, and once.
  private func learn(_ record: RegistrationRecord) async throws(StoreError) {
    let now = clock.now
    guard record.flow.state.isPending, now >= record.flow.expires else { return codes.learn(record) }
    guard let ended = try await store.expire(record.id, at: now) else { return codes.forget(record.id) }
    codes.learn(ended)
  }

  /// Looks at registrations whatever memory says; those that are gone are forgotten.
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
