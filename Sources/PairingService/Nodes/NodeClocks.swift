internal import RegentPairing

/// Decides, from the clocks of all nodes and of the database server, whether this node's clock is wrong.
///
/// There is no reference clock, so each clock, the server's included, has one vote, and the largest group of agreeing
/// clocks is taken to be right. A node outside that group goes out of service. If two groups are equally large, no node
/// goes out of service, and operators are warned. A largest group of two or more clocks contains at least one
/// node, so never all nodes go out of service.
package enum NodeClocks {
  /// The result of comparing this node's clock with the clocks of the other nodes and of the database server.
  package enum Verdict: Hashable, Sendable {
    /// The node's clock is in the largest group of agreeing clocks, and near the database's clock.
    case agrees
    /// The node's clock is far from the database's clock, and it cannot be decided which of the two is wrong.
    case disputed
    /// The node's clock is wrong: the largest group of agreeing clocks shows another time, and is larger than this
    /// clock's own group.
    case outvoted
  }

  /// How far clocks may be apart and still agree.
  ///
  /// Verifiers of media tokens tolerate half a minute, OAuth proofs a minute, and signed headers five. Beyond this
  /// bound, what a node signs may be expired or not yet valid for others.
  package static let bound: Duration = .seconds(30)
  /// How close to the others a clock that was wrong must come before it counts as right again.
  ///
  /// It is less than the bound, so that a clock near the bound does not go in and out of service repeatedly.
  private static let boundOfWrong: Duration = .seconds(25)

  /// Compares this node's clock with those of the other nodes.
  ///
  /// Each clock is given as the time by which it is ahead of the database's clock.
  static func standing(of own: Duration, among others: [Duration], after earlier: Verdict = .agrees) -> Verdict {
    let bound = earlier == .agrees ? bound : boundOfWrong
    let witnesses = [.zero, own] + others
    func party(_ clock: Duration) -> Int { witnesses.count { ($0 - clock).magnitude <= bound } }
    let largest = witnesses.map(party).max() ?? 0
    let isOfLargest = witnesses.contains { ($0 - own).magnitude <= bound && party($0) == largest }
    if largest > party(own), !isOfLargest { return .outvoted }
    return own.magnitude > bound ? .disputed : .agrees
  }
}

extension Duration {
  /// The absolute value of the duration.
  var magnitude: Duration { self < .zero ? .zero - self : self }

  /// This difference between two clocks in words: `12 s ahead of` or `12 s behind`.
  var aheadInWords: String {
    "\((magnitude + .milliseconds(500)).components.seconds) s \(self > .zero ? "ahead of" : "behind")"
  }
}
