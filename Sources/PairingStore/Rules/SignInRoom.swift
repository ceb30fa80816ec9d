public import RegentPairing

/// Limits the sign-ins of one account, and chooses which ones end when there are too many.
///
/// The limit exists because an app can invent device ids, and each one is a sign-in with permits of its own. Sign-ins
/// that apps derive from a box's own sign-in are counted separately. A hostile box can therefore end only derived
/// sign-ins, which the affected box renews without the viewer. It can never end the sign-in of a screen.
public struct SignInRoom: Sendable {
  /// The factor between the limit for screens and the higher limit for sign-ins that apps derive from boxes.
  private static let appFactor = 4

  private let most: Int
  private let lastUse: @Sendable (AuthenticationID) -> Instant?

  public init(most: Int, lastUse: @escaping @Sendable (AuthenticationID) -> Instant?) {
    self.most = max(most, 1)
    self.lastUse = lastUse
  }

  /// An account with fewer sign-ins than this exceeds no limit.
  public var least: Int { most }

  /// The sign-ins above the limits, starting with those that were unused for the longest time.
  ///
  /// The new sign-in is never among them.
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

  /// The latest credible time at which the sign-in was made or used.
  ///
  /// Another node's clock may be slightly ahead, so a time counts if it lies in the future by no more than the
  /// tolerance. A time further ahead was written while a clock was wrong and is ignored.
  private func used(_ record: AuthenticationRecord, at now: Instant) -> Instant {
    let times = [record.authentication.issued, lastUse(record.authentication.id)].compactMap(\.self)
    return times.filter { $0 <= now + Self.tolerance }.max() ?? Instant(milliseconds: .min)
  }

  /// The largest accepted difference between the clocks of two nodes.
  ///
  /// A node with a larger difference stops serving.
  private static let tolerance: Duration = .seconds(60)
}
