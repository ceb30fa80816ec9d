public import RegentPairing

/// How many sign-ins one account has, and which of them end when there are more.
///
/// Device ids can be made up, and each is a sign-in with permits of its own. What apps have from a box's own sign-in is
/// counted apart: a hostile box then ends sign-ins that its box makes again without the viewer, and no screen's.
public struct SignInRoom: Sendable {
  /// So many times as many apps of boxes as screens.
  private static let appFactor = 4

  private let most: Int
  private let lastUse: @Sendable (AuthenticationID) -> Instant?

  public init(most: Int, lastUse: @escaping @Sendable (AuthenticationID) -> Instant?) {
    self.most = max(most, 1)
    self.lastUse = lastUse
  }

  /// Fewer than this are never too many, whatever they are.
  public var least: Int { most }

  /// Those that are too many, unused for longest first; never the one that was just made.
  public func surplus(
    of all: [AuthenticationRecord], besides new: AuthenticationID, at now: Instant
  ) -> [AuthenticationRecord] {
    let valid = all.filter { $0.authentication.isValid(at: now) }
    return surplus(of: valid.filter { $0.authentication.parent == nil }, most, besides: new, at: now)
      + surplus(of: valid.filter { $0.authentication.parent != nil }, most * Self.appFactor, besides: new, at: now)
  }

  private func surplus(
    of all: [AuthenticationRecord], _ most: Int, besides new: AuthenticationID, at now: Instant
  ) -> [AuthenticationRecord] {
    guard all.count > most else { return [] }
    let ages = all.filter { $0.authentication.id != new }.map { ($0, used($0, at: now)) }
    return ages.sorted { ($0.1, $0.0.authentication.id) < ($1.1, $1.0.authentication.id) }
      .prefix(all.count - most).map(\.0)
  }

  /// The last time that is known.
  ///
  /// A sign-in that another node has just made may lie a moment ahead of this node's clock, and is the newest. One from
  /// further ahead was made while a clock was wrong, and says nothing.
  private func used(_ record: AuthenticationRecord, at now: Instant) -> Instant {
    let times = [record.authentication.issued, lastUse(record.authentication.id)].compactMap(\.self)
    return times.filter { $0 <= now + Self.tolerance }.max() ?? Instant(milliseconds: .min)
  }

  /// What the clocks of two nodes may differ by; a node that is further off takes itself out.
  private static let tolerance: Duration = .seconds(60)
}
