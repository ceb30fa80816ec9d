package import RegentHTTPCodec
package import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Counts wrong guesses of secrets, separately for each kind of client, so that guesses of one kind do not lock the
/// others out.
struct Guesses: Sendable {
  fileprivate var phones: GuessLedger<Viewer>
  /// The counters of wrong guesses by apps, one for each requestor.
  ///
  /// An attacker with the secret of one app therefore cannot lock out the devices of another's.
  fileprivate var apps: [RequestorID: GuessLedger<Never>] = [:]
  private let unknownRequestors: GuessLedger<Never>
  /// The counters of invalid credentials of app installations, when they register or ask for a token.
  fileprivate var clients: GuessLedger<Never>
  /// The counters of invalid secrets, assertions, statements and tokens of OAuth clients.
  ///
  /// They are separate, so that OAuth clients and app installations in one house do not lock each other out.
  fileprivate var programs: GuessLedger<Never>
  /// The counters of wrong proofs from clients that redeem an enrolment code.
  fileprivate var enrolments: GuessLedger<Never>

  /// The limit for invalid client credentials is this many times that for codes.
  ///
  /// Guessing 256 random bits is hopeless, and a house full of boxes with outdated registrations must be able to
  /// recover.
  private static let clientFactor = 12
  /// The factor between the limit for wrong codes from one address and that for one phone.
  ///
  /// The address may be a hotel's.
  ///
  /// 60 wrong codes in two hours are, over a day, as many as one phone may have.
  private static let hotelFactor = 12

  init(_ limits: ServiceLimits) {
    phones = GuessLedger(
      each: limits.wrongCodes, ofSource: limits.wrongCodes.widened(by: Self.hotelFactor), all: limits.allWrongCodes)
    unknownRequestors = GuessLedger(each: limits.wrongCodes, all: limits.allWrongCodes)
    enrolments = GuessLedger(each: limits.wrongCodes, all: limits.allWrongCodes)
    clients = GuessLedger(
      each: limits.wrongCodes.times(Self.clientFactor),
      all: limits.allWrongCodes.times(Self.clientFactor))
    programs = clients
  }

  fileprivate mutating func note(_ guess: WrongGuess, browser: Int? = nil, at now: Uptime) -> Bool {
    let mark = Int(truncatingIfNeeded: guess.mark)
    switch guess.kind {
    case .phone(let account):
      return phones.wrong(source: guess.source, account: account, browser: browser, mark: mark, at: now)
    case .app(let requestor): return self[requestor].wrong(source: guess.source, account: nil, mark: mark, at: now)
    case .client: return clients.wrong(source: guess.source, account: nil, mark: mark, at: now)
    case .program: return programs.wrong(source: guess.source, account: nil, mark: mark, at: now)
    case .enrolment: return enrolments.wrong(source: guess.source, account: nil, mark: mark, at: now)
    }
  }

  /// The counters of wrong guesses by the apps of one requestor.
  ///
  /// Only operators create requestors, so their number is bounded.
  fileprivate subscript(requestor: RequestorID) -> GuessLedger<Never> {
    get { apps[requestor] ?? unknownRequestors }
    _modify { yield &apps[requestor, default: unknownRequestors] }
  }
}

extension RequestLimits {
  /// The kind of client that tries a code, which may not be its own.
  package enum Guesser: Sendable {
    /// A phone's browser tries the code.
    ///
    /// The browser is identified by the id in its cookie and by the account that it is signed in as.
    ///
    /// A wrong code counts for the browser, the account and the address.
    case phone(Viewer?, browser: String? = nil)

    /// The number by which the counters know the browser.
    ///
    /// Swift seeds its hashes anew in every process, so a client cannot choose a cookie that collides with another
    /// browser's.
    fileprivate var browser: Int? {
      if case .phone(_, let browser?) = self { browser.hashValue } else { nil }
    }
    /// A client with the credentials of this requestor's app tries the code.
    ///
    /// A wrong code counts for the address and the requestor together.
    case app(RequestorID)
  }

  /// Throws when this client has tried too many wrong codes.
  ///
  /// Call it before looking the code up.
  package func mayTryCode(from address: IPAddress?, as guesser: Guesser) throws(CallError) {
    let (source, now) = (SourceKey(address), clock.uptime)
    try allow(
      state.withLock { state in
        switch guesser {
        case .phone(let account, _):
          state.guesses.phones.verdict(source: source, account: account, browser: guesser.browser, at: now)
        case .app(let requestor):
          state.guesses[requestor].verdict(source: source, account: nil, at: now)
        }
      })
  }

  /// Counts a wrong code.
  ///
  /// If `mark` identifies the code, the same wrong code is not counted again for a while.
  package func wrongCode(from address: IPAddress?, as guesser: Guesser, mark: Int64? = nil) {
    let source = SourceKey(address)
    let isCounted =
      switch guesser {
      case .phone(let account, _):
        count(WrongGuess(.phone(account), from: source, mark: mark), browser: guesser.browser)
      case .app(let requestor): count(WrongGuess(.app(requestor), from: source, mark: mark))
      }
    guard isCounted else { return }
    metrics.count(.wrongCodes)
    // The counters limit the number of these lines, and the log has a rate limit of its own.
    switch guesser {
    case _ where address == nil: log.warning("wrong-code-without-address")
    // `deploy/fail2ban` searches for this line.
    case .phone: log.warning("wrong-code", ("address", address?.description ?? ""))
    // `deploy/fail2ban` does not search for this line: boxes with outdated registrations must not get the phones in
    // their home banned.
    case .app(let requestor):
      log.warning(
        "wrong-code-of-app", ("requestor", requestor.text), ("address", address?.description ?? ""))
    }
  }

  /// The kind of client that sends a credential too long to guess.
  ///
  /// A valid credential is accepted however many invalid ones come from the same address.
  package enum Claimant: Sendable {
    /// The credential comes from an app installation that registers or asks for a token.
    case client
    case program
  }

  /// Counts an invalid credential.
  ///
  /// - Throws: 429 when too many have come from this address; then this one is not counted.
  func wrongClaim(_ claimant: Claimant, from address: IPAddress?) throws(CallError) {
    let (source, now) = (SourceKey(address), clock.uptime)
    try allow(
      state.withLock { state in
        switch claimant {
        case .client: state.guesses.clients.verdict(source: source, account: nil, at: now)
        case .program: state.guesses.programs.verdict(source: source, account: nil, at: now)
        }
      })
    switch claimant {
    case .client: count(WrongGuess(.client, from: source))
    case .program:
      guard count(WrongGuess(.program, from: source)) else { return }
      // The counters limit the number of these lines, and the log has a rate limit of its own. `deploy/fail2ban` does
      // not search for this line: a program with outdated credentials must not get the phones in its home banned.
      log.warning("wrong-client", ("address", address?.description ?? ""))
    }
  }

  /// Throws when too many wrong enrolment codes have come from this address.
  package func mayTryEnrolment(from address: IPAddress?) throws(CallError) {
    let (source, now) = (SourceKey(address), clock.uptime)
    try allow(
      state.withLock { $0.guesses.enrolments.verdict(source: source, account: nil, at: now) })
  }

  package func wrongEnrolment(from address: IPAddress?) {
    count(WrongGuess(.enrolment, from: SourceKey(address)))
  }

  /// Counts a wrong guess here and tells the other nodes.
  ///
  /// An attacker who uses all nodes in turn thus has no more guesses than at one.
  @discardableResult
  private func count(_ guess: WrongGuess, browser: Int? = nil) -> Bool {
    let now = clock.uptime
    let isCounted = state.withLock { $0.guesses.note(guess, browser: browser, at: now) }
    if isCounted { shared?.add(guess) }
    return isCounted
  }

  /// Counts wrong guesses that other nodes have reported and already logged.
  func note(_ guesses: [WrongGuess]) {
    guard !guesses.isEmpty else { return }
    let now = clock.uptime
    state.withLock { state in
      for guess in guesses { _ = state.guesses.note(guess, at: now + (.zero - guess.age)) }
    }
  }
}

extension ServiceCore {
  /// Counts and logs an invalid credential.
  ///
  /// - Throws: 429 when too many have come from this address. The caller must send it as the response.
  func countRefused(
    _ claimant: RequestLimits.Claimant, _ reason: String, from address: IPAddress?
  ) throws(CallError) {
    metrics.count(.callsRefused)
    audit.note(
      .service, "client.refused", address?.description ?? "local", .refused, detail: reason, once: true, from: address)
    try limits.wrongClaim(claimant, from: address)
  }
}
