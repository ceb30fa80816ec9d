internal import PasswordHashing
internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Checks a user name and password: first the rate limits, then the hash, then the account.
///
/// An unknown name, a wrong password and a disabled account take the same steps, whichever program hashed the password.
/// So neither the response nor its time reveals which of them it was.
final class SignInCheck: Sendable {
  enum Verdict: Equatable, Sendable {
    /// The password is right and the account is enabled. `proved` is the hash under which the password is stored now.
    case right(AccountName, proved: String)
    /// The name is unknown, the password is wrong, or the account is disabled.
    case wrong
    /// The password was not checked, because of too many failures.
    ///
    /// The viewer must wait for this duration.
    case wait(Duration)
    /// The password was not checked, because too many passwords are being hashed at the moment.
    case busy
  }

  /// The number of failures that one source address may have before it must wait.
  ///
  /// Several households may share an address.
  private static let freeForSource = 50
  /// The number of failures that one account may have from all addresses together.
  ///
  /// One address may have only ``LoginThrottle/free`` of them. Otherwise an attacker who knows a viewer's name could
  /// lock that viewer out.
  private static let freeForAccount = 100
  /// The wait when another request is using the last permitted try at this moment.
  private static let moment: Duration = .seconds(1)
  /// How often, and how long each time, a request waits for other checks of the account or address.
  private static let mostPauses = 8
  private static let pause: Duration = .milliseconds(250)
  private let core: ServiceCore
  /// The number of password checks in progress for each account and address, so that simultaneous tries count like
  /// consecutive ones.
  private let underWay = Locked([LoginSubject: Int]())

  /// For each provider, the name of an account that exists; ``equalizeReads(_:at:)`` reads it.
  private let samples = Locked([ProviderID: AccountName]())

  init(_ core: ServiceCore) { self.core = core }

  func verify(
    _ user: String, _ password: String, at provider: ProviderID, from address: IPAddress?
  ) async throws -> Verdict {
    let name = AccountName(user)
    let source = SourceKey(address)
    var subjects: [(subject: LoginSubject, free: Int)] = []
    if let name {
      subjects.append((.accountFrom(source, provider, name), LoginThrottle.free))
      subjects.append((.account(provider, name), Self.freeForAccount))
    }
    subjects.append((.source(source), Self.freeForSource))
    if source.subscriber != source {
      subjects.append((.source(source.subscriber), Self.freeForSource * RequestLimits.subscriberFactor))
    }
    var look = try await look(name, password, provider, subjects, address)
    // Without script, a browser sends its form again at each tap, and while Enter is held down. The checks of the
    // earlier requests end soon.
    for _ in 0..<Self.mostPauses {
      guard look.isBehindOthers else { break }
      try await giveBack(look)
      try await Task.sleep(for: Self.pause)
      look = try await self.look(name, password, provider, subjects, address)
    }
    if let subject = look.throttled { throttled(subject, address) }
    // The check is no longer counted as in progress, so a slow write does not make a right password count as a guess.
    try await giveBack(look)
    guard case .right(let name, let stored) = look.verdict else { return look.verdict }
    for subject in look.forgiven { try await core.store.clearLoginFailures(of: subject) }
    guard look.isOutdated else { return look.verdict }
    return .right(name, proved: await renewed(password, stored, of: name, at: provider))
  }

  private func giveBack(_ look: Look) async throws {
    for (subject, counted) in look.unused { try await core.store.giveBack(counted, of: subject) }
  }

  /// The result of a password check, with the changes to the failure counters that it causes.
  private struct Look {
    var verdict: Verdict
    /// The account or address because of which the password was not checked.
    var throttled: LoginSubject?
    /// Whether the password was not checked only because other checks of the account or address are in progress.
    var isBehindOthers = false
    /// The accounts and addresses whose failures are cleared because the password is right.
    var forgiven: [LoginSubject] = []
    /// Sign-in attempts that were counted before the password was checked, but were no failures.
    var unused: [(LoginSubject, LoginTry)] = []
    /// Whether the password must be rehashed with the current parameters.
    var isOutdated = false
  }

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
      case .wait(let wait): return Look(verdict: .wait(wait), throttled: subject)
      case .behind: return Look(verdict: .wait(Self.moment), throttled: subject, isBehindOthers: true)
      }
      if subject.isOfAccount { forgiven.append(subject) }
    }
    var taken: [(LoginSubject, LoginTry)] = []
    for (subject, free) in scarce {
      guard let counted = try await core.store.takeLoginTry(of: subject, free: free, at: core.clock.now) else {
        return Look(verdict: .wait(Self.moment), throttled: subject, isBehindOthers: true, unused: taken)
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

  /// Checks the password, and counts a failure against each of `subjects` (the account, the address) if it is wrong.
  ///
  /// The caller leaves out a subject that has few tries left: it has counted this try there before the check, so that
  /// simultaneous tries cannot exceed the limit.
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
      core.log.warning(
        "wrong-password", ("address", address?.description ?? "-"),
        ("viewer", account.map { "\(provider)/\($0.name)" } ?? provider.text))
      // The name is not logged if it is unknown, because it may be a password typed into the wrong field. Each name
      // still causes one audit entry: an attacker who measures the service's writes must not see which names exist.
      core.audit.note(
        .service, "session.start", account.map { "\(provider)/\($0.name)" } ?? provider.text,
        .refused, detail: Self.reason(account, stored) + Self.origin(address),
        onceFor: "\(provider)/\(name?.description ?? "")", from: address)
      return Look(verdict: .wrong)
    }
    return Look(verdict: .right(name, proved: stored), isOutdated: check == .rightButOutdated)
  }

  /// Why a sign-in failed, for operators; the viewer is not told.
  private static func reason(_ account: Account?, _ stored: String?) -> String {
    guard let account else { return "unknown name" }
    if account.isDisabled { return "the account is disabled" }
    return stored == nil ? "the account has no password" : "wrong password"
  }

  private static func origin(_ address: IPAddress?) -> String { address.map { " from \($0)" } ?? "" }

  private func read(
    _ name: AccountName, at provider: ProviderID
  ) async throws -> (Account?, String?) {
    let account = try await core.store.account(provider, name)
    return (account, try await core.store.password(of: name, at: provider))
  }

  /// Reads another account, so that the check takes as long as with the opposite outcome.
  ///
  /// A missing row is faster to read and verify than an existing one, and a thousand tries would reveal the difference.
  private func equalizeReads(_ account: Account?, at provider: ProviderID) async throws {
    let other = samples.withLock { samples -> AccountName? in
      guard let account else { return samples[provider] }
      samples[provider] = account.name
      return nil
    }
    guard let other = other ?? Self.decoyAccount else { return }
    _ = try await read(other, at: provider)
  }

  private static let decoyAccount = AccountName(Hex.encode(Random.bytes(16)))

  /// Rehashes the password with the current work factors and stores the new hash.
  ///
  /// The plain password is known only during a sign-in. On failure the old hash stays in use until the next sign-in.
  /// - Returns: the hash under which the password is stored now, unless another writer has changed it meanwhile.
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

  /// Whether another sign-in attempt is allowed.
  private enum Admission {
    case free
    /// The attempt must be counted before the password is checked, because other nodes may be counting at this moment.
    case scarce
    case wait(Duration)
    /// Other checks that are in progress may use up all permitted tries.
    case behind
  }

  private func admission(after failures: LoginFailures?, _ free: Int, underWay ahead: Int) -> Admission {
    if let wait = LoginThrottle.pause(after: failures, free: free, at: core.clock.now) { return .wait(wait) }
    let (nodes, count) = (core.limits.nodes, failures?.count ?? 0)
    if nodes > 1 { return ahead == 0 && count + nodes <= free ? .free : .scarce }
    return ahead > 0 && count + ahead >= free ? .behind : .free
  }

  private func throttled(_ subject: LoginSubject, _ address: IPAddress?) {
    core.metrics.count(.requestsThrottled)
    let text =
      switch subject {
      case .account(let provider, _), .accountFrom(_, let provider, _): provider.text
      case .source(let source): source.text
      }
    core.audit.note(
      .service, "session.throttle", text, .refused, detail: "too many wrong passwords\(Self.origin(address))",
      once: true, from: address)
  }

  /// Registers a password check as in progress for each account and address, and returns how many others were in
  /// progress for each.
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
  /// Whether a right password clears the counted failures: true for those of an account, false for those of a source
  /// address.
  fileprivate var isOfAccount: Bool { if case .source = self { false } else { true } }
}
