public import RegentPairing

/// For how many clients of one origin a requestor has room, and who makes room for one more.
///
/// Whoever registers itself costs nobody anything but a place. So a place is lent: who never paired loses it after a
/// day, and before that to a newcomer when there is no other, the oldest first. It keeps it for an hour in any case,
/// twice as long as a code counts: otherwise a crowd that registers without end would push an honest program out
/// between its registration and its viewer's yes. One source cannot fill the places within that hour, as it may
/// register far more slowly (`RequestLimits`: 460 an hour); a crowd can, and then newcomers are refused until the hour
/// is over.
public struct ClientRoom: Hashable, Sendable {
  /// How many programs may have registered themselves with a requestor that takes every one.
  public static let mostOpen = 10_000
  /// After how long one that registered itself, with a software statement or with nothing, and never paired is
  /// forgotten: whoever has an app has its statement, and each use of it leaves a row.
  public static let unpairedLifetime: Duration = .seconds(86_400)
  /// For how long it makes room for nobody.
  public static let settling: Duration = .seconds(3600)

  /// As many as there are.
  public static let unlimited = ClientRoom(most: .max, forgettingBefore: nil)

  /// Those that register themselves; `age` is the time by which things are deleted.
  public static func open(at age: Instant) -> ClientRoom {
    ClientRoom(most: mostOpen, forgettingBefore: age - settling)
  }

  public let most: Int
  /// Of those that never paired, the oldest from before then makes room; nil is that none does.
  public let forgettingBefore: Instant?

  public init(most: Int, forgettingBefore: Instant?) {
    self.most = most
    self.forgettingBefore = forgettingBefore
  }

  /// Whether a client makes room for another of its origin.
  ///
  /// One that was made in the future is from a clock that was wrong: it would keep its place until then.
  public func mayForget(_ client: OAuthClientRecord, at now: Instant) -> Bool {
    guard let forgettingBefore, client.paired == nil else { return false }
    return client.created <= forgettingBefore || client.created > now
  }
}

extension OAuthClientRecord.Origin {
  /// Those of whom there are as many as somebody asks for: they are kept when they have paired.
  ///
  /// What operators and their invitations brought stays.
  public static let forgotten: [Self] = [.itself, .statement]
}

extension OAuthClientRecord {
  /// Whether it registered itself, never paired and has had its time.
  public func isForgotten(at age: Instant) -> Bool {
    Origin.forgotten.contains(origin) && paired == nil && age.since(created) >= ClientRoom.unpairedLifetime
  }
}
