internal import PasswordHashing
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Checks passwords that are typed on the phone: limits first, then the hash, then the account.
///
/// Unknown name, wrong password and disabled account take the same steps, whichever program hashed the password, so
/// that neither the answer nor its time says which of them it was.
final class SignInCheck: Sendable {
  /// The outcome of a check.
  enum Verdict: Equatable, Sendable {
    /// The password is right and the account stands; with the hash under which the password is stored now.
    case right(AccountName, proved: String)
    /// It is not, for whatever reason.
    case wrong
    /// Too many were wrong: nothing was looked at.
    case wait(Duration)
    /// Too many passwords are being hashed.
    case busy
  }

  /// What one network address may get wrong before it has to wait; several households may share one.
  private static let freeForSource = 50
  /// What may be wrong for one account from all addresses together.
  ///
  /// One address has ``LoginThrottle/free`` of them: anybody could keep a viewer out otherwise by knowing her name.
  private static let freeForAccount = 100
  /// How long one waits whose try somebody else has.
  private static let moment: Duration = .seconds(1)
  private let core: ServiceCore
  /// How many passwords are being looked at now, so that many at once count as many one after the other.
  private let underWay = Locked([LoginSubject: Int]())

  /// An account that exists, of each provider.
  private let samples = Locked([ProviderID: AccountName]())

  init(_ core: ServiceCore) { self.core = core }

  /// Looks at a name and a password.
  func verify(
    _ user: String, _ password: String, at provider: ProviderID, from address: IPAddress?
  ) async throws -> Verdict {
    let name = AccountName(user)
    let source = SourceKey(address)
    var subjects: [(subject: LoginSubject, free: Int)] = []
    if let name, let source {
      subjects.append((.accountFrom(source, provider, name), LoginThrottle.free))
    }
    if let name {
      // Where there is no address, as on a Unix socket, all are one.
      let free = source == nil ? LoginThrottle.free : Self.freeForAccount
      subjects.append((.account(provider, name), free))
    }
    if let source { subjects.append((.source(source), Self.freeForSource)) }
    let look = try await look(name, password, provider, subjects, address)
    // Not under way any more: a right password is no guess, however long the store takes to write.
    for (subject, counted) in look.unused { try await core.store.giveBack(counted, of: subject) }
    guard case .right(let name, let stored) = look.verdict else { return look.verdict }
    for subject in look.forgiven { try await core.store.clearLoginFailures(of: subject) }
    guard look.isOutdated else { return look.verdict }
    return .right(name, proved: await renewed(password, stored, of: name, at: provider))
  }

  /// What came of a look at a password.
  private struct Look {
    var verdict: Verdict
    /// Whose wrong ones a right one ends.
    var forgiven: [LoginSubject] = []
    /// Tries that were counted for what was no wrong one.
    var unused: [(LoginSubject, LoginTry)] = []
    /// Whether the password is to be hashed anew.
    var isOutdated = false
  }

  /// Checks the limits, and the password when they allow it.
  private func look(
    _ name: AccountName?, _ password: String, _ provider: ProviderID,
    _ subjects: [(subject: LoginSubject, free: Int)], _ address: IPAddress?
  ) async throws -> Look {
    let ahead = enter(subjects.map(\.subject))
    defer { leave(subjects.map(\.subject)) }
    var forgiven: [LoginSubject] = []
    var scarce: [(LoginSubject, free: Int)] = []
    for (number, (subject, free)) in subjects.enumerated() {
      let failures = try await core.store.loginFailures(of: subject)
      switch admission(after: failures, free, underWay: ahead[number]) {
      case .free: if failures == nil { continue }
      case .scarce: scarce.append((subject, free))
      case .wait(let wait):
        throttled(subject, address)
        return Look(verdict: .wait(wait))
      }
      if subject.isOfAccount { forgiven.append(subject) }
    }
    var taken: [(LoginSubject, LoginTry)] = []
    for (subject, free) in scarce {
      guard let counted = try await core.store.takeLoginTry(of: subject, free: free, at: core.clock.now) else {
        throttled(subject, address)
        return Look(verdict: .wait(Self.moment), unused: taken)
      }
      taken.append((subject, counted))
    }
    let counted = Set(taken.map(\.0))
    var look = try await checkAndCount(
      name, password, provider, subjects.map(\.subject).filter { !counted.contains($0) }, address)
    look.forgiven = forgiven
    switch look.verdict {
    case .wrong: break
    case .right: look.unused = taken.filter { !$0.0.isOfAccount }
    case .wait, .busy: look.unused = taken
    }
    return look
  }

  /// Checks the password; a wrong one is counted for the account and for the address, where it is not counted yet.
  private func checkAndCount(
    _ name: AccountName?, _ password: String, _ provider: ProviderID,
    _ subjects: [LoginSubject], _ address: IPAddress?
  ) async throws -> Look {
    var account: Account?
    var stored: String?
    if let name {
      (account, stored) = try await read(name, at: provider)
      try await equalizeReads(account, at: provider)
    }
    let check: PasswordCheck
    do throws(PasswordError) {
      check = try await core.passwords.check(
        Secret(password), against: stored, beside: core.passwordForms.forms(at: provider))
    } catch {
      core.log.warning("password", ("reason", error.description))
      return Look(verdict: .busy)
    }
    guard check != .wrong, let name, let account, let stored, !account.isDisabled else {
      for subject in subjects {
        _ = try await core.store.recordLoginFailure(of: subject, at: core.clock.now)
      }
      core.metrics.count(.signInsFailed)
      // A name that does not exist may be a password in the wrong field: it is not written down. There is a line for
      // each name all the same, because writing it takes time too.
      core.audit.note(
        .service, "session.start", account.map { "\(provider)/\($0.name)" } ?? provider.text,
        .refused, onceFor: "\(provider)/\(name?.description ?? "")", from: address)
      return Look(verdict: .wrong)
    }
    return Look(verdict: .right(name, proved: stored), isOutdated: check == .rightButOutdated)
  }

  private func read(
    _ name: AccountName, at provider: ProviderID
  ) async throws -> (Account?, String?) {
    let account = try await core.store.account(provider, name)
    return (account, try await core.store.password(of: name, at: provider))
  }

  /// Reads once more what the other outcome would have read: a row takes longer to read and to verify than none, and a
  /// thousand tries would show it.
  private func equalizeReads(_ account: Account?, at provider: ProviderID) async throws {
    let other = samples.withLock { samples -> AccountName? in
      guard let account else { return samples[provider] }
      samples[provider] = account.name
      return nil
    }
    guard let other = other ?? Self.nobody else { return }
    _ = try await read(other, at: provider)
  }

  /// A name that no account has.
  private static let nobody = AccountName(Hex.encode(Random.bytes(16)))

  /// Stores the password with the work factors of today: only now is it known in clear.
  ///
  /// When that fails the old hash goes on, until the next time.
  /// - Returns: the hash under which it is stored, unless somebody else has changed it meanwhile.
  private func renewed(
    _ password: String, _ stored: String, of name: AccountName, at provider: ProviderID
  ) async -> String {
    do {
      let phc = try await core.passwords.hash(Secret(password))
      try await core.store.renewPassword(phc, replacing: stored, of: name, at: provider)
      return phc
    } catch {
      core.log.warning("password", ("reason", "\(error)"))
      return stored
    }
  }

  // MARK: - Limits

  /// Whether one more may be looked at.
  private enum Admission {
    case free
    /// It may when it is counted before, as others may count at this moment.
    case scarce
    case wait(Duration)
  }

  private func admission(after failures: LoginFailures?, _ free: Int, underWay ahead: Int) -> Admission {
    if let wait = LoginThrottle.pause(after: failures, free: free, at: core.clock.now) { return .wait(wait) }
    let (nodes, count) = (core.limits.nodes, failures?.count ?? 0)
    if nodes > 1 { return ahead == 0 && count + nodes <= free ? .free : .scarce }
    return ahead > 0 && count + ahead >= free ? .wait(Self.moment) : .free
  }

  private func throttled(_ subject: LoginSubject, _ address: IPAddress?) {
    core.metrics.count(.requestsThrottled)
    let text =
      switch subject {
      case .account(let provider, _), .accountFrom(_, let provider, _): provider.text
      case .source(let source): source.text
      }
    core.audit.note(.service, "session.throttle", text, .refused, once: true, from: address)
  }

  /// - Returns: how many were there before, for each.
  private func enter(_ subjects: [LoginSubject]) -> [Int] {
    underWay.withLock { underWay in
      subjects.map { subject in
        let ahead = underWay[subject] ?? 0
        underWay[subject] = ahead + 1
        return ahead
      }
    }
  }

  private func leave(_ subjects: [LoginSubject]) {
    underWay.withLock { underWay in
      for subject in subjects {
        let left = (underWay[subject] ?? 1) - 1
        underWay[subject] = left > 0 ? left : nil
      }
    }
  }
}

extension LoginSubject {
  /// Whether a right password ends the counting: what a source got wrong stands.
  fileprivate var isOfAccount: Bool { if case .source = self { false } else { true } }
}
