import PostgreSQL
import RegentPairing
import RegentPlatform
import RegentSQL

/// How many codes may be live at most, as far as the cluster knows: it saves counting a hundred thousand rows for each
/// new one.
///
/// Each new code adds one; codes that end take nothing off; counting puts it right. It stands in the cluster's row,
/// which every transaction that writes has to itself, so it is never below the truth, whoever adds codes.
final class SharedLiveCodeBound: Sendable {
  /// When this node counted last: only to save counting again, so nobody else need know.
  private struct Seen {
    var all: Instant?
    /// Requestors that had their share.
    var full = RequestorCounts()
  }

  private let seen = Locked(Seen())

  /// Takes the place of one more code, if there is room.
  ///
  /// - Returns: the limit that leaves none; `nil` when it was taken.
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
    // It gets no more than the others then, so it need not be the truth of all nodes.
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

/// What a transaction will have the cluster know of the live codes of single requestors.
///
/// There are rows for them only while the pool is nearly full, when each new code adds to them: so they are never below
/// the truth either, and cost nothing at other times. What a request noted stays when it is undone: that is too much at
/// worst.
struct OwnLiveCodes {
  private var most: [RequestorID: Int] = [:]
  private var added: [RequestorID: Int] = [:]
  private var isForgotten = false

  /// Whether the pool is so full that the codes of each requestor are counted.
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

  /// What writes it down.
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
