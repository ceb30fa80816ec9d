/// How many codes may be live (unanswered) at one time.
///
/// A requestor may use the whole pool. A requestor that has fewer codes than its share may use twice the pool. So an
/// attacker with the secret of one app cannot keep other publishers' boxes from getting codes.
public struct LiveCodeLimits: Hashable, Sendable {
  /// The number of live codes that all requestors together may have.
  public let all: Int
  /// A requestor with fewer live codes than this may exceed ``all``.
  ///
  /// The share is 0 if there is only one requestor.
  public let share: Int

  /// Creates the limits of a pool of `all` codes that `requestors` share.
  public init(_ all: Int, among requestors: Int = 1) {
    self.all = all
    share = requestors > 1 ? max(all / requestors, 1) : 0
  }

  /// The total number of live codes below which a requestor with `own` live codes gets another one.
  public func most(having own: Int) -> Int {
    own < share ? RateLimit.product(all, 2) : all
  }
}
