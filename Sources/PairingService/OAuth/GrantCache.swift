internal import PairingStore
internal import RegentOAuth
internal import RegentPairing
internal import RegentPlatform

/// Caches clients and grants that were valid, because APIs introspect the same tokens all day.
///
/// An entry is used only while the store's change counter (``GrantStore/standingMark``) has the value that it had
/// before the entry was read. Every change that could make an entry invalid advances the counter before the change is
/// confirmed. An operator who disables an account can therefore be sure that no cached entry is used afterwards.
package final class GrantCache: Sendable {
  /// The data of a grant that introspection needs.
  struct Grant {
    let client: ClientID
    let requestor: RequestorID
    /// The time until which the entry may be used: the earlier end of the grant and of its sign-in.
    ///
    /// Using the grant may extend it; the grant is then read again.
    let until: Instant
  }

  /// The maximum number of cached grants, about 12 MiB.
  ///
  /// The clients need 8 MiB more when each has a few keys.
  static let mostGrants = 65_536
  static let mostClients = 2_048
  private let grants: Locked<MarkedTable<GrantID, Grant>>
  private let clients: Locked<MarkedTable<ClientID, AuthenticatedClient>>

  package init(mostGrants: Int = GrantCache.mostGrants, mostClients: Int = GrantCache.mostClients) {
    grants = Locked(MarkedTable(most: mostGrants))
    clients = Locked(MarkedTable(most: mostClients))
  }

  /// The number of cached grants and clients, including outdated ones.
  package var counts: (grants: Int, clients: Int) {
    (grants.withLock { $0.entries.count }, clients.withLock { $0.entries.count })
  }

  func grant(_ id: GrantID, asOf mark: UInt64, at now: Instant) -> Grant? {
    guard let grant = grants.withLock({ $0.find(id, asOf: mark) }), now < grant.until else { return nil }
    return grant
  }

  /// Caches a valid grant until the store's change counter (``GrantStore/standingMark``) changes.
  ///
  /// `mark` is the counter's value before the grant was read.
  func keep(_ standing: ValidGrant, asOf mark: UInt64) {
    let grant = Grant(
      client: standing.client.id, requestor: standing.client.requestor,
      until: min(standing.grant.expires, standing.signIn.authentication.expires))
    grants.withLock { $0.keep(grant, for: standing.grant.id, asOf: mark) }
  }

  func client(_ id: ClientID, asOf mark: UInt64) -> AuthenticatedClient? {
    clients.withLock { $0.find(id, asOf: mark) }
  }

  /// Caches a client until the store's change counter (``GrantStore/standingMark``) changes.
  ///
  /// `mark` is the counter's value before the client was read.
  func keep(_ client: AuthenticatedClient, asOf mark: UInt64) {
    clients.withLock { $0.keep(client, for: client.record.id, asOf: mark) }
  }
}

/// A table whose entries are valid only while the store's change counter keeps its value.
struct MarkedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private(set) var entries: [Key: (mark: UInt64, value: Value)] = [:]
  private let most: Int
  /// The value of the change counter at which outdated entries were last removed.
  private var swept: UInt64?

  init(most: Int) { self.most = most }

  func find(_ key: Key, asOf mark: UInt64) -> Value? {
    guard let entry = entries[key], entry.mark == mark else { return nil }
    return entry.value
  }

  /// Adds an entry to the table.
  ///
  /// When the table is full of current entries, the new one is left out, and the store is asked instead.
  mutating func keep(_ value: Value, for key: Key, asOf mark: UInt64) {
    if entries.count >= most, entries[key] == nil {
      // Outdated entries are removed once for each value of the counter. Otherwise each call would search the whole
      // full table.
      guard swept != mark else { return }
      swept = mark
      entries = entries.filter { $0.value.mark == mark }
      guard entries.count < most else { return }
    }
    entries[key] = (mark, value)
  }
}
