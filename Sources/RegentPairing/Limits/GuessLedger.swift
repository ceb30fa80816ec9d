/// Who has tried wrong codes: per browser, per account, per source, and everybody together.
///
/// - A browser or account with 5 wrong codes within 10 minutes stays away until the first of them is 10 minutes old,
///   whatever it brings: otherwise its sixth guess could be the right one.
/// - So does a source, with a limit of its own where it stands for many browsers: a hotel has 60 within two hours, as
///   many a day as 5 within 10 minutes. A viewer who is signed in is not held up by a source.
/// - When everybody together has had 60 within a minute, a stranger could go on from ever new addresses. So sources
///   that have guessed wrong stay away, and those that have not share 32 places: one wrong code there, and all that
///   share it wait for a minute. So within any minute at most 92 wrong codes get an answer, and about 60 a minute in
///   the long run, because those in shared places count among the 60. Who is signed in has a place of her own.
/// - A network of IPv6 (/48) has 65,536 subscribers' /64s, or one subscriber has all of it: after 20 wrong codes within
///   10 minutes its unknown sources share one place, too, and nobody elsewhere notices.
/// - Nothing is ever reset by a success, and polls of a device for its own code are never counted here.
///
/// Nothing here opens when it is full: whom there is no room to remember shares a place as well.
public struct GuessLedger<Account: Hashable & Sendable>: Sendable {
  /// Places of those who share one.
  private static var crowd: Int { 32 }
  /// Counters of IPv6 networks; two in the same one share a place a little sooner.
  private static var networks: Int { 1024 }

  private let each: FailureLimit
  private let ofSource: FailureLimit
  private let all: FailureLimit
  private let ofNetwork: FailureLimit
  private let shared: FailureLimit
  private let capacity: Int
  private var sources: [SourceKey: FailureBudget] = [:]
  private var accounts: [Account: FailureBudget] = [:]
  /// By a hash of the browser's cookie.
  ///
  /// When it is full, further browsers are held up by their source alone.
  private var browsers: [Int: FailureBudget] = [:]
  private var everybody = FailureBudget()
  private var networks: [Int: FailureBudget] = [:]
  private var crowd = [FailureBudget](repeating: FailureBudget(), count: Self.crowd)
  private var nextSweep = Uptime(milliseconds: .min)

  /// An empty ledger that remembers at most `capacity` sources, as many accounts and as many browsers; without a limit
  /// of their own, sources have that of an account.
  public init(
    each: FailureLimit = .wrongCodes, ofSource: FailureLimit? = nil, all: FailureLimit = .allWrongCodes,
    capacity: Int = 100_000
  ) {
    self.each = each
    self.ofSource = ofSource ?? each
    self.all = all
    ofNetwork = self.ofSource.times(4)
    shared = FailureLimit(count: 1, span: all.span)
    self.capacity = max(capacity, 1)
  }

  /// Whether a code from there may be looked at; ask before the code is looked up.
  public func verdict(source: SourceKey, account: Account?, browser: Int? = nil, at now: Uptime) -> RateVerdict {
    let (budgetOfSource, budgetOfAccount) = (sources[source], account.flatMap { accounts[$0] })
    let isHeldUpBySource = account == nil || ofSource == each
    let waits = [
      isHeldUpBySource ? budgetOfSource?.blocked(ofSource, at: now) : nil, budgetOfAccount?.blocked(each, at: now),
      browser.flatMap { browsers[$0] }?.blocked(each, at: now),
    ]
    if let longest = waits.compactMap(\.self).max() { return .over(retryAfter: longest) }
    guard isCrowded(source, at: now) else { return .within }
    let known = [budgetOfSource, budgetOfAccount].compactMap(\.self)
    guard known.allSatisfy({ $0.isClean(each, at: now) }) else {
      return .over(retryAfter: everybody.blocked(all, at: now) ?? all.span)
    }
    // An account has to be made by its provider: nobody has thousands of them.
    if account != nil, accounts.count < capacity { return .within }
    guard let wait = crowd[place(of: source)].blocked(shared, at: now) else { return .within }
    return .over(retryAfter: wait)
  }

  /// Counts a wrong code, which may be one of a while ago; with a mark, the same one again counts once in a window.
  ///
  /// - Returns: whether it was counted.
  @discardableResult
  public mutating func wrong(
    source: SourceKey, account: Account?, browser: Int? = nil, mark: Int? = nil, at now: Uptime
  ) -> Bool {
    makeRoom(at: now)
    let isShared = isCrowded(source, at: now)
    if sources[source] != nil || sources.count < capacity {
      guard sources[source, default: FailureBudget()].fail(ofSource, mark: mark, at: now) else {
        return false
      }
    }
    everybody.fail(all, at: now)
    if isShared { crowd[place(of: source)].fail(shared, at: now) }
    if source.hasSubnetworks {
      networks[counter(of: source), default: FailureBudget()].fail(ofNetwork, at: now)
    }
    if let account, accounts[account] != nil || accounts.count < capacity {
      accounts[account, default: FailureBudget()].fail(each, mark: mark, at: now)
    }
    if let browser, browsers[browser] != nil || browsers.count < capacity {
      browsers[browser, default: FailureBudget()].fail(each, mark: mark, at: now)
    }
    return true
  }

  /// Whether a source that is not known has no try of its own now.
  private func isCrowded(_ source: SourceKey, at now: Uptime) -> Bool {
    if everybody.blocked(all, at: now) != nil { return true }
    if sources.count >= capacity, sources[source] == nil { return true }
    return source.hasSubnetworks
      && networks[counter(of: source)]?.blocked(ofNetwork, at: now) != nil
  }

  /// Swift's hash is keyed anew in every process: nobody can choose a network that shares a place with another one.
  private func place(of source: SourceKey) -> Int {
    Int(UInt(bitPattern: source.network.hashValue) % UInt(Self.crowd))
  }

  private func counter(of source: SourceKey) -> Int {
    Int(UInt(bitPattern: source.network.hashValue) % UInt(Self.networks))
  }

  /// Forgets whom the limits do not touch any more.
  ///
  /// What still counts stays, also when the ledger is full: making room for a new source would free a blocked one. At
  /// most one sweep in ten seconds: a full ledger must not cost a guesser nothing and us a hundred thousand steps.
  private mutating func makeRoom(at now: Uptime) {
    guard max(sources.count, accounts.count, browsers.count) >= capacity, now >= nextSweep else { return }
    nextSweep = now + .seconds(10)
    if sources.count >= capacity {
      sources = sources.filter { !$0.value.isClean(ofSource, at: now) }
    }
    if accounts.count >= capacity {
      accounts = accounts.filter { !$0.value.isClean(each, at: now) }
    }
    if browsers.count >= capacity {
      browsers = browsers.filter { !$0.value.isClean(each, at: now) }
    }
  }
}
