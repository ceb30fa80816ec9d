package import RegentCryptography
package import RegentPairing
package import PairingStore
internal import RegentPlatform
import Synchronization

/// Everything that operators made, as the routes look at it: never changing, in memory, with keys ready to use.
package final class ProvisioningSnapshot: Sendable {
  /// A requestor's key for signed calls, with what checking them needs.
  package final class CallKey: Sendable {
    package let pair: KeyPair
    /// Its secret for the historic method.
    package let sha1: HMACKey
    /// Its secret for ours.
    package let sha256: HMACKey
    /// How strictly its requestor's calls are checked.
    package let policy: SignaturePolicy
    private let notedUse = Atomic(Int64.min)

    package init?(_ pair: KeyPair, _ policy: SignaturePolicy) {
      let secret = Secret(pair.secret)
      guard let sha1 = try? HMACKey(.sha1, secret), let sha256 = try? HMACKey(.sha256, secret)
      else { return nil }
      self.pair = pair
      self.sha1 = sha1
      self.sha256 = sha256
      self.policy = policy
    }

    /// Whether a use has to be noted, without looking for the key in all that `KeyUseTimes` knows.
    package func hasToNoteUse(at now: Instant) -> Bool {
      let last = Instant(milliseconds: notedUse.load(ordering: .relaxed))
      guard KeyUseTimes.isNews(after: last, at: now) else { return false }
      notedUse.store(now.milliseconds, ordering: .relaxed)
      return true
    }
  }

  /// A provider of a requestor, with the integration between them.
  package struct Choice: Sendable {
    package let provider: Provider
    /// How it works with the requestor.
    package let integration: Integration

    /// Whether everybody counts as signed in there at the moment.
    package var letsEverybodyIn: Bool {
      integration.degradation == .authenticateEverybody && provider.hasAccounts
    }
  }

  /// The records as they are kept.
  package let records: Provisioning
  /// The keys of signed calls that are not revoked.
  package let callKeys: [PublicKey: CallKey]
  /// The providers that work with each requestor, in the order to show: featured first, then by name.
  package let choices: [RequestorID: [Choice]]
  /// The providers that let everybody in at the moment, by requestor; requestors without one are not in it.
  package let openProviders: [RequestorID: [Choice]]
  private let rules: [ProviderID: ProviderEntitlements]
  private let rowKeys: [RequestorID: PublicKey]

  /// A look at these records.
  package init(_ records: Provisioning) {
    self.records = records
    var callKeys: [PublicKey: CallKey] = [:]
    for (publicKey, pair) in records.keyPairs where pair.purpose == .calls && pair.state != .revoked {
      guard let requestor = records.requestors[pair.requestor] else { continue }
      callKeys[publicKey] = CallKey(pair, requestor.signaturePolicy)
    }
    self.callKeys = callKeys
    choices = records.integrations.mapValues { integrations in
      integrations.values.compactMap { integration in
        guard integration.enabled, let provider = records.providers[integration.provider] else {
          return nil
        }
        return Choice(provider: provider, integration: integration)
      }.sorted { $0.provider.precedes($1.provider) }
    }
    openProviders = choices.mapValues { $0.filter(\.letsEverybodyIn) }.filter { !$0.value.isEmpty }
    rules = records.entitlements.mapValues(ProviderEntitlements.init)
    var rowKeys: [RequestorID: PublicKey] = [:]
    for id in records.requestors.keys { rowKeys[id] = records.rowKey(of: id)?.publicKey }
    self.rowKeys = rowKeys
  }

  package func requestor(_ id: RequestorID) -> Requestor? { records.requestors[id] }

  /// The key pair that signs a requestor's new rows.
  package func rowKey(of id: RequestorID) -> PublicKey? { rowKeys[id] }

  package func rules(of provider: ProviderID) -> ProviderEntitlements { rules[provider] ?? .none }

  /// A provider that works with a requestor now.
  package func choice(_ provider: ProviderID, of requestor: RequestorID) -> Choice? {
    choices[requestor]?.first { $0.provider.id == provider }
  }
}

extension Provider {
  fileprivate func precedes(_ other: Provider) -> Bool {
    if featured != other.featured { return featured }
    let (mine, theirs) = (name.lowercased(), other.name.lowercased())
    return mine == theirs ? id < other.id : mine < theirs
  }
}

/// The newest look at what operators made, for every thread.
package final class ProvisioningCache: Sendable {
  private struct State {
    var current: ProvisioningSnapshot
    /// Which reading of the store `current` is; an older reading that comes late is thrown away.
    var installed = 0
    var started = 0
  }

  private let store: any ProvisioningStore
  private let state: Locked<State>

  /// Reads what is there now.
  package init(_ store: any ProvisioningStore) async throws(StoreError) {
    self.store = store
    state = Locked(State(current: ProvisioningSnapshot(try await store.provisioning())))
  }

  /// As of the last change.
  package var now: ProvisioningSnapshot { state.withLock { $0.current } }

  /// Reads again, see ``ServiceCore/refreshProvisioning()``.
  ///
  /// - Returns: the keys of rows that this reading found revoked.
  fileprivate func refresh() async throws(StoreError) -> Set<PublicKey> {
    let turn = state.withLock { state in
      state.started += 1
      return state.started
    }
    let read = ProvisioningSnapshot(try await store.provisioning())
    return state.withLock { state in
      guard turn > state.installed else { return [] }
      let before = state.current.records.keyPairs
      state.installed = turn
      state.current = read
      let revoked = read.records.keyPairs.values.filter {
        $0.purpose == .rows && $0.state == .revoked && before[$0.publicKey]?.state != .revoked
      }
      return Set(revoked.map(\.publicKey))
    }
  }
}

extension ServiceCore {
  /// Has every route look at what an operator changed.
  package func refreshProvisioning() async throws(StoreError) {
    let revoked = try await provisioning.refresh()
    // The store does not know what they signed any more.
    if !revoked.isEmpty { codes.forget(signedBy: revoked) }
  }
}
