/// Counts wrong codes per browser, per account, per source, and over all sources, and decides who may try again.
///
/// - A browser or account with 5 wrong codes within 10 minutes is refused until the oldest of them is 10 minutes old,
///   even if its next code is right: otherwise the sixth guess could succeed.
/// - The same holds for a source. A source that stands for many browsers, as in a hotel, has a wider limit: 60 within
///   two hours, the same rate per day. A signed-in viewer is not refused because of such a source.
/// - After 60 wrong codes from all sources within a minute, an attacker may be using ever new addresses. Then sources
///   with a wrong code are refused, and all other sources share 32 places. A wrong code in a place blocks it for a
///   minute. So at most 92 wrong codes get an answer in any minute, and about 60 a minute over time, because wrong
///   codes in the shared places count too. A signed-in viewer does not need a shared place.
/// - An IPv6 /48 network has 65,536 /64 subnets and may belong to one subscriber. After 20 wrong codes from one
///   within 10 minutes, its other sources share one place; other networks are not affected.
/// - A success resets nothing, and a device's polls for its own code are not counted.
///
/// When the ledger is full, a source that cannot be remembered uses a shared place, so filling the ledger gives no
/// free tries.
public struct GuessLedger<Account: Hashable & Sendable>: Sendable {
  /// The number of places that sources without failures share while too many wrong codes come from all sources.
  private static var crowd: Int { 32 }
  /// The number of counters for IPv6 networks.
  ///
  /// Two networks that hash to the same counter reach the limit sooner.
  private static var networks: Int { 1024 }

  private let each: FailureLimit
  private let ofSource: FailureLimit
  private let all: FailureLimit
  private let ofNetwork: FailureLimit
  private let shared: FailureLimit
  private let capacity: Int
  private var sources: [SourceKey: FailureBudget] = [:]
  private var accounts: [Account: FailureBudget] = [:]
  /// The failures of each browser, by a hash of its cookie.
  ///
  /// When this is full, further browsers are limited by their source only.
  private var browsers: [Int: FailureBudget] = [:]
  private var everybody = FailureBudget()
  private var networks: [Int: FailureBudget] = [:]
  private var crowd = [FailureBudget](repeating: FailureBudget(), count: Self.crowd)
  private var nextSweep = Uptime(milliseconds: .min)

  /// An empty ledger that remembers at most `capacity` sources, as many accounts and as many browsers.
  ///
  /// Without `ofSource`, sources have the limit of an account.
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

  /// Decides whether a registration code from this source may be checked.
  ///
  /// Call this before looking the code up.
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
    // A wrong code from a signed-in account needs no shared place. Only the provider creates accounts, so an attacker
    // does not have thousands of them.
    if account != nil, accounts.count < capacity { return .within }
    guard let wait = crowd[place(of: source)].blocked(shared, at: now) else { return .within }
    return .over(retryAfter: wait)
  }

  /// Counts a wrong code, also one that was tried some time ago.
  ///
  /// Within a time window, only one wrong code with the same `mark` is counted.
  ///
  /// - Returns: whether the wrong code was counted.
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

  /// Whether a source without failures may only use one of the shared places now.
  private func isCrowded(_ source: SourceKey, at now: Uptime) -> Bool {
    if everybody.blocked(all, at: now) != nil { return true }
    if sources.count >= capacity, sources[source] == nil { return true }
    return source.hasSubnetworks
      && networks[counter(of: source)]?.blocked(ofNetwork, at: now) != nil
  }

  /// Swift's hash has a random seed in each process, so an attacker cannot choose a network whose counter another
  /// network uses.
  private func place(of source: SourceKey) -> Int {
    Int(UInt(bitPattern: source.network.hashValue) % UInt(Self.crowd))
  }

  private func counter(of source: SourceKey) -> Int {
    Int(UInt(bitPattern: source.network.hashValue) % UInt(Self.networks))
  }

  /// Removes sources, accounts and browsers without failures in their time window.
  ///
  /// Entries that still count stay even if the ledger is full: removing one would free a blocked source. The removal
  /// runs at most once in ten seconds, because an attacker who keeps the ledger full could otherwise cause 100,000
  /// steps with each guess.
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
