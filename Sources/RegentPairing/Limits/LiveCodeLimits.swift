/// How many codes may be live (unanswered) at one time.
///
/// A requestor may use the whole pool. While another requestor has fewer codes than its share, the pool is twice as
/// large for it. So an attacker with the secret of one app cannot keep other publishers' boxes from getting codes.
public struct LiveCodeLimits: Hashable, Sendable {
  /// The limit for all requestors together.
  public let all: Int
  /// A requestor with fewer live codes than this may exceed ``all``.
  ///
  /// It is 0 if there is only one requestor.
  public let share: Int

  /// The limits of a pool that `requestors` share.
  public init(_ all: Int, among requestors: Int = 1) {
    self.all = all
    share = requestors > 1 ? max(all / requestors, 1) : 0
  }

  /// The total number of live codes up to which a requestor that has `own` of them gets another one.
  public func most(having own: Int) -> Int {
    own < share ? RateLimit.product(all, 2) : all
  }
}
