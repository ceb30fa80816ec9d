public import RegentPairing

/// The limit of a requestor's OAuth clients of one origin.
///
/// It also decides which client is deleted for a new one.
///
/// Registration is free, so an attacker could use up the limit. A client that never paired is therefore deleted after a
/// day. It is deleted earlier, the oldest first, when a new client would exceed the limit. In its first hour
/// (``settling``) a client is safe. That is twice the lifetime of a code, so a flood of registrations cannot delete an
/// honest client before its viewer approves it. One source address cannot use up the limit within that hour, because
/// its rate limit is 460 registrations an hour (`RequestLimits`). Many addresses together can, and then new clients are
/// refused until the hour has passed.
public struct ClientRoom: Hashable, Sendable {
  /// The maximum number of clients that may register themselves with a requestor that accepts registrations without a
  /// statement or invitation.
  public static let mostOpen = 10_000
  /// The age at which a client is deleted if it registered itself and never paired.
  ///
  /// This includes clients with a software statement: anyone who has the app has its statement, and each registration
  /// with it adds a row.
  public static let unpairedLifetime: Duration = .seconds(86_400)
  /// The time after its registration in which a client is not deleted in favour of a new one.
  public static let settling: Duration = .seconds(3600)

  /// A requestor may have any number of clients, and no client is deleted when a new one registers.
  public static let unlimited = ClientRoom(most: .max, forgettingBefore: nil)

  /// The limit for clients that register themselves without a statement or invitation.
  ///
  /// `age` is the present time. The caller takes it from the clock that it uses to compute ages before it deletes rows.
  public static func open(at age: Instant) -> ClientRoom {
    ClientRoom(most: mostOpen, forgettingBefore: age - settling)
  }

  public let most: Int
  /// A client may be deleted in favour of a new one if it never paired and was registered before this time.
  ///
  /// Nil means that no client is deleted.
  public let forgettingBefore: Instant?

  public init(most: Int, forgettingBefore: Instant?) {
    self.most = most
    self.forgettingBefore = forgettingBefore
  }

  /// Whether this client may be deleted in favour of a new client of the same origin.
  ///
  /// A registration time in the future was written while the clock was wrong. Such a client may be deleted, because it
  /// would otherwise be kept until that time.
  public func mayForget(_ client: OAuthClientRecord, at now: Instant) -> Bool {
    guard let forgettingBefore, client.paired == nil else { return false }
    return client.created <= forgettingBefore || client.created > now
  }
}

extension OAuthClientRecord.Origin {
  /// The origins whose clients register without an operator, and so in any number.
  ///
  /// Clients of these origins are kept only once they have paired. Clients that an operator added or invited are never
  /// deleted automatically.
  public static let forgotten: [Self] = [.itself, .statement]
}

extension OAuthClientRecord {
  /// Whether the client registered itself, never paired, and is older than ``ClientRoom/unpairedLifetime``.
  public func isForgotten(at age: Instant) -> Bool {
    Origin.forgotten.contains(origin) && paired == nil && age.since(created) >= ClientRoom.unpairedLifetime
  }
}
