/// The failed sign-ins of one account or source, as a store counts them.
public struct LoginFailures: Hashable, Sendable {
  /// The number of failed sign-ins.
  ///
  /// For an account the count starts again after a right password. For accounts and sources it starts again after
  /// ``LoginThrottle/memory`` without a failure.
  public let count: Int
  /// The time of the last failed sign-in.
  public let last: Instant

  public init(count: Int, last: Instant) {
    self.count = count
    self.last = last
  }
}

/// A sign-in try that is counted as a failure before the password is checked, so that parallel tries are limited too.
public struct LoginTry: Hashable, Sendable {
  /// The failures that were stored before this try.
  public let before: LoginFailures?
  /// The failures including this try, as stored while the password is checked.
  public let after: LoginFailures

  public init(before: LoginFailures?, after: LoginFailures) {
    self.before = before
    self.after = after
  }
}

/// How long an account or a source must wait before the next sign-in try.
///
/// The counts are stored durably, so that a restart of the service does not reset them. The pause doubles up to a
/// maximum: a permanent lock would let an attacker lock viewers out.
public enum LoginThrottle {
  /// The number of wrong passwords after which the pauses begin.
  ///
  /// The first pause is one second.
  public static let free = 5
  /// The longest pause: 15 minutes.
  public static let longestPause: Duration = .seconds(900)
  /// How long without a failure until the failures are forgotten: 24 hours.
  public static let memory: Duration = .seconds(86_400)

  /// The maximum number of accounts and sources whose failures are stored.
  ///
  /// Without this limit, an attacker with many addresses could add a row with each password, and a row stays for a day.
  public static let remembered = 300_000
  /// The maximum number of failures with which an account or source starts that has no row of its own yet.
  private static let mostInherited = 100

  /// The failures with which an account or source that has no row of its own starts.
  ///
  /// No removed row had more.
  ///
  /// When there are too many rows, those with the fewest failures are removed, and new ones start with the largest
  /// count among the removed. So an attacker who fills the table gains no tries: rows with many failures stay, and a
  /// removed row comes back with at least as many.
  public static func others(_ known: LoginFailures?, forgetting count: Int, at now: Instant) -> LoginFailures {
    LoginFailures(count: min(max(known?.count ?? 0, count), mostInherited), last: now)
  }

  /// How long to wait before the password may be checked; nil if it may be checked now.
  ///
  /// Pauses begin after `free` failures. Callers pass a higher `free` for a network address than for an account,
  /// because many households can share an address.
  public static func pause(after failures: LoginFailures?, free: Int = LoginThrottle.free, at now: Instant) -> Duration?
  {
    guard let failures, failures.count >= free else { return nil }
    // The failure was counted while the clock was ahead. If its time counted, each try would be refused until that time
    // comes.
    guard failures.last <= now + longestPause else { return nil }
    let doublings = min(failures.count - free, 20)
    let pause = min(Duration.seconds(1 << doublings), longestPause)
    let left = (failures.last + pause).since(now)
    // If the clock was set back since the failure, the remaining wait could be hours, so it is limited to the length of
    // the pause.
    return left > .zero ? min(left, pause) : nil
  }

  /// Removes a counted try that turned out not to be a failure, and returns the remaining failures; nil if none are
  /// left.
  ///
  /// Failures that other tries added in the meantime stay, and so does the time of the last one.
  public static func givingBack(_ counted: LoginTry, from failures: LoginFailures?) -> LoginFailures? {
    guard let failures, failures != counted.after else { return failures == nil ? nil : counted.before }
    return failures.count > 1 ? LoginFailures(count: failures.count - 1, last: failures.last) : nil
  }

  public static func adding(to failures: LoginFailures?, at now: Instant) -> LoginFailures {
    guard let failures, now.since(failures.last) < memory else {
      return LoginFailures(count: 1, last: now)
    }
    return LoginFailures(
      count: failures.count + 1,
      last: failures.last <= now + longestPause ? max(now, failures.last) : now)
  }
}
