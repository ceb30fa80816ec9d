import PostgreSQL
import RegentPairing
import RegentPlatform
import RegentSQL

/// An upper bound of the number of pending codes in the cluster, so that a hundred thousand rows need not be counted
/// for each new code.
///
/// Each new code adds one. Codes that end subtract nothing. A count corrects the bound. It is stored in the cluster's
/// row, which every writing transaction locks. So it is never below the true number, whichever node adds codes.
final class SharedLiveCodeBound: Sendable {
  /// The times of this node's last counts of pending codes.
  ///
  /// They only avoid further counts, so other nodes need not know them.
  private struct Seen {
    var all: Instant?
    /// The requestors that had used up their share of the limit of pending codes when they were last counted.
    var full = RequestorCounts()
  }

  private let seen = Locked(Seen())

  /// Reserves a place for one more pending code, if there is room.
  ///
  /// - Returns: the limit that is exceeded; nil when a place was reserved.
  func take(_ request: LiveCodeRequest, in context: WriteContext) throws -> Int? {
    let transaction = context.transaction
    var known = transaction.liveCodes.map { LiveCodeCount(most: $0, counted: seen.withLock { $0.all }) }
    var isCounted = false
    let exceeded = try request.exceeded(
      &known, own: { try own(request, in: context) },
      counting: {
        isCounted = true
        return try context.value(CodeQueries.countLive(at: request.now)) ?? 0
      })
    if isCounted { seen.withLock { $0.all = request.now } }
    let most = known?.most ?? 0
    let isNear = OwnLiveCodes.count(near: request.limits.all, having: most)
    if isCounted, !isNear { transaction.ownLiveCodes.forget() }
    transaction.liveCodes = exceeded == nil ? most + 1 : most
    if exceeded == nil, isNear { transaction.ownLiveCodes.add(request.requestor) }
    return exceeded
  }

  private func own(_ request: LiveCodeRequest, in context: WriteContext) throws -> LiveCodeCount {
    let (transaction, requestor) = (context.transaction, request.requestor)
    // A requestor that has used up its share gets no further place. This node's own count suffices for that, even if
    // other nodes have newer counts.
    if let full = seen.withLock({ $0.full[requestor] }), request.isStillFull(full) { return full }
    let stored = try transaction.ownLiveCodes.known(of: requestor) {
      try context.value("SELECT most FROM live_code_count WHERE requestor = \(requestor.text)")
    }
    let own = try request.own(stored.map { LiveCodeCount(most: $0) }) {
      try context.value(CodeQueries.countLive(of: requestor, at: request.now)) ?? 0
    }
    transaction.ownLiveCodes.note(own.most, of: requestor)
    if own.most >= request.limits.share { seen.withLock { $0.full.keep(own, of: requestor) } }
    return own
  }
}

/// The changes of one transaction to the stored upper bounds of single requestors' pending codes.
///
/// The rows exist only while the limit of all codes is nearly reached, and each new code adds to them then. So they are
/// never below the true numbers, and cost nothing at other times. If a request is rolled back, its additions stay,
/// which makes a bound too high at worst.
struct OwnLiveCodes {
  private var most: [RequestorID: Int] = [:]
  private var added: [RequestorID: Int] = [:]
  private var isForgotten = false

  /// Whether the limit of all codes is so nearly reached that the codes of each requestor are counted.
  static func count(near limit: Int, having live: Int) -> Bool { live >= limit - limit / 10 }

  func known(of requestor: RequestorID, stored: () throws -> Int?) rethrows -> Int? {
    if let most = most[requestor] { return most }
    return isForgotten ? nil : try stored().map { $0 + added[requestor, default: 0] }
  }

  mutating func note(_ most: Int, of requestor: RequestorID) {
    self.most[requestor] = most
    added[requestor] = nil
  }

  mutating func add(_ requestor: RequestorID) {
    if most[requestor] != nil {
      most[requestor]? += 1
    } else {
      added[requestor, default: 0] += 1
    }
  }

  mutating func forget() { self = OwnLiveCodes(isForgotten: true) }

  init(isForgotten: Bool = false) { self.isForgotten = isForgotten }

  /// The statements that write the changed bounds.
  var statements: [SQL] {
    (isForgotten ? ["DELETE FROM live_code_count"] : [])
      + most.sorted { $0.key < $1.key }.map { requestor, most in
        """
        INSERT INTO live_code_count (requestor, most) VALUES (\(requestor.text), \(most))
        ON CONFLICT (requestor) DO UPDATE SET most = EXCLUDED.most
        """
      }
      + added.sorted { $0.key < $1.key }.map { requestor, count in
        "UPDATE live_code_count SET most = most + CAST(\(count) AS BIGINT) WHERE requestor = \(requestor.text)"
      }
  }
}
