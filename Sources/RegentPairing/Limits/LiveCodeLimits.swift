/// How many codes may wait for an answer at one time.
///
/// One requestor may fill the pool; as long as another has less than its share, the pool is larger for it by as much
/// again. So nobody is kept out by the secret of somebody else's app.
public struct LiveCodeLimits: Hashable, Sendable {
  /// Of everybody together.
  public let all: Int
  /// A requestor that has fewer may go beyond: 0 where there is one only.
  public let share: Int

  /// The limits of a pool that so many requestors have in common.
  public init(_ all: Int, among requestors: Int = 1) {
    self.all = all
    share = requestors > 1 ? max(all / requestors, 1) : 0
  }

  /// How many may wait in all for a requestor, of which so many are its own, to get another one.
  public func most(having own: Int) -> Int {
    own < share ? all.addingReportingOverflow(all).partialValue : all
  }
}
