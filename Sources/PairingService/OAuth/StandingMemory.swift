internal import PairingStore
internal import RegentOAuth
internal import RegentPairing
internal import RegentPlatform

/// What was read of clients and grants and stands still: APIs ask about the same tokens all day.
///
/// Nothing here is believed but by ``GrantStore/standingMark``: an entry counts while the mark is the one that was
/// taken before it was read, so that memory never says more than the store would. Whoever disables an account is told
/// that it is done, and from then on the entry is an old one.
package final class StandingMemory: Sendable {
  /// What a question about an access token needs to know of its grant.
  struct Grant {
    let client: ClientID
    let requestor: RequestorID
    /// When its time is over, or the sign-in's; a later use of the grant makes that later, and then it is read again.
    let until: Instant
  }

  /// About 12 MiB, and with clients of a few keys each 8 MiB more.
  static let mostGrants = 65_536
  static let mostClients = 2_048
  private let grants: Locked<MarkedTable<GrantID, Grant>>
  private let clients: Locked<MarkedTable<ClientID, AuthenticatedClient>>

  package init(mostGrants: Int = StandingMemory.mostGrants, mostClients: Int = StandingMemory.mostClients) {
    grants = Locked(MarkedTable(most: mostGrants))
    clients = Locked(MarkedTable(most: mostClients))
  }

  /// How many grants and clients are remembered, those included that do not count any more.
  package var counts: (grants: Int, clients: Int) {
    (grants.withLock { $0.entries.count }, clients.withLock { $0.entries.count })
  }

  func grant(_ id: GrantID, asOf mark: UInt64, at now: Instant) -> Grant? {
    guard let grant = grants.withLock({ $0.find(id, asOf: mark) }), now < grant.until else { return nil }
    return grant
  }

  /// Remembers a grant that stood, read after the mark was taken.
  func keep(_ standing: StandingGrant, asOf mark: UInt64) {
    let grant = Grant(
      client: standing.client.id, requestor: standing.client.requestor,
      until: min(standing.grant.expires, standing.signIn.authentication.expires))
    grants.withLock { $0.keep(grant, for: standing.grant.id, asOf: mark) }
  }

  func client(_ id: ClientID, asOf mark: UInt64) -> AuthenticatedClient? {
    clients.withLock { $0.find(id, asOf: mark) }
  }

  /// Remembers a client, read after the mark was taken.
  func keep(_ client: AuthenticatedClient, asOf mark: UInt64) {
    clients.withLock { $0.keep(client, for: client.record.id, asOf: mark) }
  }
}

/// Entries that count while a mark stays the same.
struct MarkedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private(set) var entries: [Key: (mark: UInt64, value: Value)] = [:]
  private let most: Int
  /// With which mark it was last looked for entries that do not count any more.
  private var swept: UInt64?

  init(most: Int) { self.most = most }

  func find(_ key: Key, asOf mark: UInt64) -> Value? {
    guard let entry = entries[key], entry.mark == mark else { return nil }
    return entry.value
  }

  /// Keeps an entry; when all places are taken by others that count, it is left out, and the store goes on being asked.
  mutating func keep(_ value: Value, for key: Key, asOf mark: UInt64) {
    if entries.count >= most, entries[key] == nil {
      // Once for each mark: a crowd that fills the places must not cost a walk through all of them with each call.
      guard swept != mark else { return }
      swept = mark
      entries = entries.filter { $0.value.mark == mark }
      guard entries.count < most else { return }
    }
    entries[key] = (mark, value)
  }
}
