public import RegentPairing

/// Limits how many clients of one origin a requestor has, and decides which client is deleted for a new one.
///
/// Registration is free, so an attacker could fill all places. A client that never paired is therefore deleted after a
/// day, or earlier when a new client needs its place, the oldest first. In its first hour (``settling``) it is safe:
/// that is twice the lifetime of a code, so that a flood of registrations cannot delete an honest client between its
/// registration and its viewer's approval. One source address cannot fill all places within that hour, because its rate
/// limit is 460 registrations an hour (`RequestLimits`). Many addresses together can, and then new clients are refused
/// until the hour has passed.
public struct ClientRoom: Hashable, Sendable {
  /// The maximum number of clients that may register themselves with a requestor that accepts registrations without a
  /// statement or invitation.
  public static let mostOpen = 10_000
  /// The age at which a client is deleted if it registered itself, with or without a software statement, and never
  /// paired.
  ///
  /// Any holder of an app has its statement, and each registration with it adds a row.
  public static let unpairedLifetime: Duration = .seconds(86_400)
  /// The time after its registration in which a client is not deleted to make room.
  public static let settling: Duration = .seconds(3600)

  /// No limit, and no client is deleted.
  public static let unlimited = ClientRoom(most: .max, forgettingBefore: nil)

  /// The limit for clients that register themselves; `age` is the present time of the clock that decides about
  /// deletions.
  public static func open(at age: Instant) -> ClientRoom {
    ClientRoom(most: mostOpen, forgettingBefore: age - settling)
  }

  public let most: Int
  /// A client that never paired may be deleted for a new one if it was registered before this time.
  ///
  /// Nil means that no client is deleted.
  public let forgettingBefore: Instant?

  public init(most: Int, forgettingBefore: Instant?) {
    self.most = most
    self.forgettingBefore = forgettingBefore
  }

  /// Whether this client may be deleted to make room for another of its origin.
  ///
  /// A client with a registration time in the future was registered while the clock was wrong. It may be deleted,
  /// because it would otherwise keep its place until that time.
  public func mayForget(_ client: OAuthClientRecord, at now: Instant) -> Bool {
    guard let forgettingBefore, client.paired == nil else { return false }
    return client.created <= forgettingBefore || client.created > now
  }
}

extension OAuthClientRecord.Origin {
  /// The origins that allow any program to register any number of clients.
  ///
  /// Such clients are kept only once they have paired.
  ///
  /// Clients that an operator added, or invited, are never deleted automatically.
  public static let forgotten: [Self] = [.itself, .statement]
}

extension OAuthClientRecord {
  /// Whether the client registered itself, never paired, and is older than ``ClientRoom/unpairedLifetime``.
  public func isForgotten(at age: Instant) -> Bool {
    Origin.forgotten.contains(origin) && paired == nil && age.since(created) >= ClientRoom.unpairedLifetime
  }
}
