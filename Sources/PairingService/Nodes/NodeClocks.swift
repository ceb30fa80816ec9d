internal import RegentPairing

/// What the nodes' clocks are worth, as far as nodes and the database's server can tell together.
///
/// Nobody among them knows what time it is. So each clock is a witness, the server's like a node's, and the largest
/// party holds: a node that is not of it is out of service. Where two parties are as large as each other nobody is out,
/// and operators are told. In the largest party with two witnesses there is a node, so never all nodes are out.
package enum NodeClocks {
  /// How a node's clock stands among the others.
  package enum Standing: Hashable, Sendable {
    /// Of the largest party, and near the database's clock.
    case agrees
    /// Far from the database's clock, and nobody knows which of the two is wrong.
    case disputed
    /// Most others, the database's server among them, agree on another time.
    case outvoted
  }

  /// How far clocks may be apart.
  ///
  /// Verifiers of media tokens allow for half a minute, proofs of OAuth for a minute, and signed headers for five:
  /// beyond it, what a node signs is over or yet to come for others.
  package static let bound: Duration = .seconds(30)
  /// A clock that was wrong must come nearer than that: one that drifts over the bound is not in and out by turns.
  private static let boundOfWrong: Duration = .seconds(25)

  /// How this clock stands; each is given by how far it is ahead of the database's.
  static func standing(of own: Duration, among others: [Duration], after earlier: Standing = .agrees) -> Standing {
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
  /// How long it is, whichever way.
  var magnitude: Duration { self < .zero ? .zero - self : self }

  /// `12 s ahead of` or `12 s behind`, for a clock that is so much ahead.
  var aheadInWords: String {
    "\((magnitude + .milliseconds(500)).components.seconds) s \(self > .zero ? "ahead of" : "behind")"
  }
}
