import PairingStore
import RegentPairing

/// One more code that wants to wait for an answer: whether there is room, with as little counting as possible.
///
/// Far from the limit a number that is never below the truth says so; near it the rows are counted, in the transaction
/// that writes the code.
struct LiveCodeRequest {
  /// How long a count is good for that only saves counting again: counting goes over a hundred thousand rows.
  private static let rest: Duration = .seconds(1)
  let requestor: RequestorID
  let limits: LiveCodeLimits
  /// Codes that end with it.
  private let freed: Int
  let now: Instant

  init(_ requestor: RequestorID, _ limits: LiveCodeLimits, freed: Int, at now: Instant) {
    self.requestor = requestor
    self.limits = limits
    self.freed = freed
    self.now = now
  }

  /// The limit that leaves no room; `nil` when there is some.
  ///
  /// `own` gives what is known of the requestor's codes (``own(_:counting:)``), `counting` counts everybody's.
  func exceeded(
    _ known: inout LiveCodeCount?, own: () throws -> LiveCodeCount, counting: () throws -> Int
  ) rethrows -> Int? {
    if fits(known, limits.all) { return nil }
    let isFresh = known.map { !isOld($0) } ?? false
    if !isFresh {
      known = LiveCodeCount(most: try counting(), counted: now)
      if fits(known, limits.all) { return nil }
    }
    var limit = limits.all
    if limits.share > 0 {
      limit = limits.most(having: try own().most - freed)
      if fits(known, limit) { return nil }
    }
    guard isFresh else { return limit }
    // Nobody is turned away on a number that may be too high.
    known = LiveCodeCount(most: try counting(), counted: now)
    return fits(known, limit) ? nil : limit
  }

  /// How many codes of the requestor may wait; whoever has its share is counted anew after a while, as some have ended.
  func own(_ known: LiveCodeCount?, counting: () throws -> Int) rethrows -> LiveCodeCount {
    if let known, isStillFull(known) || known.most - freed < limits.share { return known }
    return LiveCodeCount(most: try counting(), counted: now)
  }

  /// Whether the requestor had its share a moment ago.
  func isStillFull(_ own: LiveCodeCount) -> Bool { own.most - freed >= limits.share && !isOld(own) }

  private func fits(_ known: LiveCodeCount?, _ limit: Int) -> Bool { known.map { $0.most - freed < limit } ?? false }

  private func isOld(_ count: LiveCodeCount) -> Bool {
    guard let counted = count.counted else { return true }
    return now < counted || now >= counted + Self.rest
  }
}

/// What a node knows of the live codes of single requestors.
struct RequestorCounts {
  /// Beyond so many all are forgotten and counted again.
  private static let most = 10_000
  private var counts: [RequestorID: LiveCodeCount] = [:]

  subscript(requestor: RequestorID) -> LiveCodeCount? { counts[requestor] }

  mutating func keep(_ count: LiveCodeCount, of requestor: RequestorID) {
    if counts.count >= Self.most { counts = [:] }
    counts[requestor] = count
  }

  /// One more code of a requestor that is known.
  mutating func addOne(to requestor: RequestorID) {
    if !counts.isEmpty { counts[requestor]?.most += 1 }
  }
}

/// How many codes may wait at most: never fewer than do.
struct LiveCodeCount {
  var most: Int
  /// When that was counted; `nil` when nobody knows.
  var counted: Instant?
}
