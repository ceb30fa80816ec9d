package import RegentCryptography
package import RegentPairing
package import PairingStore
internal import RegentPlatform
import Synchronization

/// An immutable copy in memory of all provisioning records (those that operators make), with prepared keys.
package final class ProvisioningSnapshot: Sendable {
  /// A requestor's key for signed requests, with all that verifying a signature needs.
  package final class CallKey: Sendable {
    package let pair: KeyPair
    /// The key pair's secret as a key for HMAC-SHA1, the signature method of older clients.
    package let sha1: HMACKey
    /// The key pair's secret as a key for HMAC-SHA256, the signature method of this service.
    package let sha256: HMACKey
    /// The requestor's policy for checking signed requests.
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

    /// Whether the present use of the key must be noted in `KeyUseTimes`.
    ///
    /// One atomic read saves locking that table on nearly every request.
    package func hasToNoteUse(at now: Instant) -> Bool {
      let last = Instant(milliseconds: notedUse.load(ordering: .relaxed))
      guard KeyUseTimes.isNews(after: last, at: now) else { return false }
      notedUse.store(now.milliseconds, ordering: .relaxed)
      return true
    }
  }

  /// A provider that viewers of a requestor can choose, with the integration between the two.
  package struct Choice: Sendable {
    package let provider: Provider
    package let integration: Integration

    /// Whether the provider currently signs every viewer in (degradation: the provider is out of order).
    package var letsEverybodyIn: Bool {
      integration.degradation == .authenticateEverybody && provider.hasAccounts
    }
  }

  /// The provisioning records (those that operators make) as the store returned them.
  package let records: Provisioning
  /// The key pairs for signed requests by public key, without revoked ones.
  package let callKeys: [PublicKey: CallKey]
  /// The enabled providers of each requestor, in the order in which pages list them: featured first, then by name.
  package let choices: [RequestorID: [Choice]]
  /// The providers that currently sign every viewer in because they are out of order (degradation), by requestor.
  ///
  /// Requestors without such a provider have no entry.
  package let openProviders: [RequestorID: [Choice]]
  private let rules: [ProviderID: ProviderEntitlements]
  private let rowKeys: [RequestorID: PublicKey]

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

  /// The key pair that signs a requestor's new database rows.
  package func rowKey(of id: RequestorID) -> PublicKey? { rowKeys[id] }

  package func rules(of provider: ProviderID) -> ProviderEntitlements { rules[provider] ?? .none }

  /// A provider that is enabled for a requestor; nil when it is not.
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

/// Holds the newest ``ProvisioningSnapshot`` for all threads.
package final class ProvisioningCache: Sendable {
  private struct ProvisioningCacheState {
    var current: ProvisioningSnapshot
    /// The number of the read from the store that produced `current`.
    ///
    /// The result of an earlier read that finishes later is discarded.
    var installed = 0
    var started = 0
  }

  private let store: any ProvisioningStore
  private let state: Locked<ProvisioningCacheState>

  /// Reads the provisioning records from the store.
  package init(_ store: any ProvisioningStore) async throws(StoreError) {
    self.store = store
    state = Locked(ProvisioningCacheState(current: ProvisioningSnapshot(try await store.provisioning())))
  }

  /// The snapshot of the last read.
  package var now: ProvisioningSnapshot { state.withLock { $0.current } }

  /// Reads the provisioning records again; see ``ServiceCore/refreshProvisioning()``.
  ///
  /// - Returns: the key pairs for signing rows that were revoked since the last read.
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
  /// Reads the provisioning records again, so that every route uses what an operator changed.
  package func refreshProvisioning() async throws(StoreError) {
    let revoked = try await provisioning.refresh()
    // The store rejects all rows that the revoked keys signed, so their codes must not stay in memory.
    if !revoked.isEmpty { codes.forget(signedBy: revoked) }
  }
}
