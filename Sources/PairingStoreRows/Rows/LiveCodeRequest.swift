import PairingStore
import RegentPairing

/// Checks whether one more registration code may be pending, with as few counts as possible.
///
/// Far from the limit, a remembered upper bound suffices. Near the limit, the rows are counted in the transaction that
/// writes the code.
struct LiveCodeRequest {
  /// How long a count of pending codes is reused before the rows are counted again.
  ///
  /// A count reads up to a hundred thousand rows.
  private static let rest: Duration = .seconds(1)
  let requestor: RequestorID
  let limits: LiveCodeLimits
  /// The number of pending codes that this request for a new code ends.
  private let freed: Int
  let now: Instant

  init(_ requestor: RequestorID, _ limits: LiveCodeLimits, freed: Int, at now: Instant) {
    self.requestor = requestor
    self.limits = limits
    self.freed = freed
    self.now = now
  }

  /// The limit of pending codes that one more code would exceed; nil when there is room.
  ///
  /// `own` returns the count for the requestor (``own(_:counting:)``); `counting` counts the codes of all requestors.
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
    // The remembered number may be too high, so the codes are counted before one more is refused.
    known = LiveCodeCount(most: try counting(), counted: now)
    return fits(known, limit) ? nil : limit
  }

  /// The number of the requestor's pending codes.
  ///
  /// Codes may have expired since the last count. The rows are therefore counted again when the known number reaches
  /// the requestor's share of the limit and the count is old.
  func own(_ known: LiveCodeCount?, counting: () throws -> Int) rethrows -> LiveCodeCount {
    if let known, isStillFull(known) || known.most - freed < limits.share { return known }
    return LiveCodeCount(most: try counting(), counted: now)
  }

  /// Whether the requestor had used its whole share of the limit when its pending codes were last counted, a short time
  /// ago.
  func isStillFull(_ own: LiveCodeCount) -> Bool { own.most - freed >= limits.share && !isOld(own) }

  private func fits(_ known: LiveCodeCount?, _ limit: Int) -> Bool { known.map { $0.most - freed < limit } ?? false }

  private func isOld(_ count: LiveCodeCount) -> Bool {
    guard let counted = count.counted else { return true }
    return now < counted || now >= counted + Self.rest
  }
}

/// The remembered counts of pending codes, by requestor.
struct RequestorCounts {
  /// The maximum number of requestors whose counts are remembered.
  ///
  /// Above it all counts are dropped, and codes are counted again.
  private static let most = 10_000
  private var counts: [RequestorID: LiveCodeCount] = [:]

  subscript(requestor: RequestorID) -> LiveCodeCount? { counts[requestor] }

  mutating func keep(_ count: LiveCodeCount, of requestor: RequestorID) {
    if counts.count >= Self.most { counts = [:] }
    counts[requestor] = count
  }

  mutating func addOne(to requestor: RequestorID) {
    if !counts.isEmpty { counts[requestor]?.most += 1 }
  }
}

/// An upper bound of the number of pending codes.
struct LiveCodeCount {
  var most: Int
  /// The time at which the pending codes were last counted; nil when they were not.
  var counted: Instant?
}
