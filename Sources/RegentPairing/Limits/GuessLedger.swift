/// Who has tried wrong codes: per source, per account, and everybody together.
///
/// - A source or account with 5 wrong codes within 10 minutes stays away until the first of them is 10 minutes old,
///   whatever it brings: otherwise its sixth guess could be the right one.
/// - When everybody together has had 60 within a minute, sources that have guessed wrong before stay away; others are
///   let through. So a crowd of guessers is slowed to one guess per source and 10 minutes, and does not shut out
///   viewers at addresses where nobody guessed.
/// - Nothing is ever reset by a success, and polls of a device for its own code are never counted here.
///
/// A source is whatever is to be kept apart: a network address, or an address together with an app.
public struct GuessLedger<Source: Hashable & Sendable, Account: Hashable & Sendable>: Sendable {
  private let each: FailureLimit
  private let all: FailureLimit
  private let capacity: Int
  private var sources: [Source: FailureBudget] = [:]
  private var accounts: [Account: FailureBudget] = [:]
  private var everybody = FailureBudget()
  private var nextSweep = Uptime(milliseconds: .min)

  /// An empty ledger that remembers at most `capacity` sources and as many accounts.
  public init(
    each: FailureLimit = .wrongCodes, all: FailureLimit = .allWrongCodes, capacity: Int = 100_000
  ) {
    self.each = each
    self.all = all
    self.capacity = max(capacity, 1)
  }

  /// Whether a code from there may be looked at; ask before the code is looked up.
  public func verdict(source: Source, account: Account?, at now: Uptime) -> RateVerdict {
    let ofSource = sources[source]
    let ofAccount = account.flatMap { accounts[$0] }
    let waits = [ofSource?.blocked(each, at: now), ofAccount?.blocked(each, at: now)]
    if let longest = waits.compactMap(\.self).max() { return .over(retryAfter: longest) }
    guard let wait = everybody.blocked(all, at: now) else { return .within }
    let known = [ofSource, ofAccount].compactMap(\.self)
    return known.allSatisfy { $0.isClean(each, at: now) } ? .within : .over(retryAfter: wait)
  }

  /// Counts a wrong code; with a mark, the same one again counts once in a window.
  ///
  /// - Returns: whether it was counted.
  @discardableResult
  public mutating func wrong(
    source: Source, account: Account?, mark: Int? = nil, at now: Uptime
  ) -> Bool {
    makeRoom(at: now)
    if sources[source] != nil || sources.count < capacity {
      guard sources[source, default: FailureBudget()].fail(each, mark: mark, at: now) else {
        return false
      }
    }
    everybody.fail(all, at: now)
    if let account, accounts[account] != nil || accounts.count < capacity {
      accounts[account, default: FailureBudget()].fail(each, mark: mark, at: now)
    }
    return true
  }

  /// Forgets whom the limits do not touch any more.
  ///
  /// What still counts stays, also when the ledger is full: then a new source is counted among everybody only, because
  /// making room for it would free a blocked one. At most one sweep in ten seconds: a full ledger must not cost a
  /// guesser nothing and us a hundred thousand steps.
  private mutating func makeRoom(at now: Uptime) {
    guard sources.count >= capacity || accounts.count >= capacity, now >= nextSweep else { return }
    nextSweep = now + .seconds(10)
    if sources.count >= capacity {
      sources = sources.filter { !$0.value.isClean(each, at: now) }
    }
    if accounts.count >= capacity {
      accounts = accounts.filter { !$0.value.isClean(each, at: now) }
    }
  }
}
