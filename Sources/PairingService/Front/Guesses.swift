package import RegentHTTPCodec
package import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Who has tried what is not valid: each kind of guesser for itself, so that neither keeps the other from the right
/// code.
struct Guesses: Sendable {
  fileprivate var phones: GuessLedger<Viewer>
  /// Of each requestor by itself: whoever has the secret of one app makes no crowd at another's.
  fileprivate var apps: [RequestorID: GuessLedger<Never>] = [:]
  private let nobody: GuessLedger<Never>
  /// Those that register or ask for a token with something that is not valid.
  fileprivate var clients: GuessLedger<Never>
  /// Clients of OAuth that show a secret, an assertion, a statement or a token that is not valid: apps' installations
  /// in the same house must not wait for them, nor they for those.
  fileprivate var programs: GuessLedger<Never>
  /// Those that redeem an enrolment code with a wrong proof.
  fileprivate var enrolments: GuessLedger<Never>

  /// Nobody guesses 256 random bits; a house full of boxes with an old registration must find its way back.
  private static let clientFactor = 12
  /// One address may be that of a hotel: 60 wrong codes within two hours are as many a day as one phone's.
  private static let hotelFactor = 12

  init(_ limits: ServiceLimits) {
    phones = GuessLedger(
      each: limits.wrongCodes, ofSource: limits.wrongCodes.widened(by: Self.hotelFactor), all: limits.allWrongCodes)
    nobody = GuessLedger(each: limits.wrongCodes, all: limits.allWrongCodes)
    enrolments = GuessLedger(each: limits.wrongCodes, all: limits.allWrongCodes)
    clients = GuessLedger(
      each: limits.wrongCodes.times(Self.clientFactor),
      all: limits.allWrongCodes.times(Self.clientFactor))
    programs = clients
  }

  /// Counts a wrong guess.
  ///
  /// - Returns: whether it was counted.
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

  /// The guesses of one requestor's apps; there are as many requestors as operators made.
  fileprivate subscript(requestor: RequestorID) -> GuessLedger<Never> {
    get { apps[requestor] ?? nobody }
    _modify { yield &apps[requestor, default: nobody] }
  }
}

extension RequestLimits {
  /// Who tries a code that is not known to be theirs.
  package enum Guesser: Sendable {
    /// A browser by its own id, with the account that it is signed in as: counted for both, and for its address.
    case phone(Viewer?, browser: String? = nil)

    /// By what a ledger knows the browser: keyed anew in every process, so that a browser cannot choose the place
    /// of another.
    fileprivate var browser: Int? {
      if case .phone(_, let browser?) = self { browser.hashValue } else { nil }
    }
    /// Whoever holds what an app of this requestor calls with: counted for the address and the requestor together.
    case app(RequestorID)
  }

  /// Whether a code from there may be looked at.
  package func mayTryCode(from address: IPAddress?, as guesser: Guesser) throws(CallError) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
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

  /// Counts a wrong code; with a mark, the same one again is not counted for a while.
  package func wrongCode(from address: IPAddress?, as guesser: Guesser, mark: Int64? = nil) {
    guard let address, let source = SourceKey(address) else { return metrics.count(.wrongCodes) }
    let isCounted =
      switch guesser {
      case .phone(let account, _):
        count(WrongGuess(.phone(account), from: source, mark: mark), browser: guesser.browser)
      case .app(let requestor): count(WrongGuess(.app(requestor), from: source, mark: mark))
      }
    guard isCounted else { return }
    metrics.count(.wrongCodes)
    // The ledger keeps these lines few, and the log has a cap of its own.
    switch guesser {
    // What deploy/fail2ban looks for.
    case .phone: log.warning("wrong-code", ("address", address.description))
    // Not for fail2ban: forgotten boxes must not get the phones of their home banned.
    case .app(let requestor):
      log.warning(
        "wrong-code-of-app", ("requestor", requestor.text), ("address", address.description))
    }
  }

  /// Who shows something that nobody guesses, so that the right one is heard whatever others there try.
  package enum Claimant: Sendable {
    /// An app's installation, which registers or asks for a token.
    case client
    /// A client of OAuth.
    case program
  }

  /// Counts what was shown in vain.
  ///
  /// - Throws: when too many came from there already; then it is not counted.
  func wrongClaim(_ claimant: Claimant, from address: IPAddress?) throws(CallError) {
    guard let address, let source = SourceKey(address) else { return }
    let now = clock.uptime
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
      // The ledger keeps these lines few, and the log has a cap of its own. Not for fail2ban: a forgotten program must
      // not get the phones of its home banned.
      log.warning("wrong-client", ("address", address.description))
    }
  }

  /// Whether a wrong enrolment code from there is still answered as one.
  package func mayTryEnrolment(from address: IPAddress?) throws(CallError) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
    try allow(
      state.withLock { $0.guesses.enrolments.verdict(source: source, account: nil, at: now) })
  }

  /// Counts a wrong enrolment code.
  package func wrongEnrolment(from address: IPAddress?) {
    guard let source = SourceKey(address) else { return }
    count(WrongGuess(.enrolment, from: source))
  }

  /// Counts a wrong guess here, and tells the other nodes: whoever asks all of them in turn has the tries of one.
  @discardableResult
  private func count(_ guess: WrongGuess, browser: Int? = nil) -> Bool {
    let now = clock.uptime
    let isCounted = state.withLock { $0.guesses.note(guess, browser: browser, at: now) }
    if isCounted { shared?.add(guess) }
    return isCounted
  }

  /// Counts what was guessed wrong at other nodes, which have logged it.
  func note(_ guesses: [WrongGuess]) {
    guard !guesses.isEmpty else { return }
    let now = clock.uptime
    state.withLock { state in
      for guess in guesses { _ = state.guesses.note(guess, at: now + (.zero - guess.age)) }
    }
  }
}

extension ServiceCore {
  /// Counts and notes what was shown in vain, whatever it was.
  ///
  /// - Throws: when too many came from there already: that is the answer then.
  func countRefused(
    _ claimant: RequestLimits.Claimant, _ reason: String, from address: IPAddress?
  ) throws(CallError) {
    metrics.count(.callsRefused)
    audit.note(
      .service, "client.refused", address?.description ?? "local", .refused, detail: reason, once: true, from: address)
    try limits.wrongClaim(claimant, from: address)
  }
}
