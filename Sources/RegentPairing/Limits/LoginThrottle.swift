/// The failed sign-ins of one account or source, as a store counts them.
public struct LoginFailures: Hashable, Sendable {
  /// How many since counting began: an account's begins anew with a right password, anybody's after
  /// ``LoginThrottle/memory`` without a failure.
  public let count: Int
  /// The last of them.
  public let last: Instant

  /// Failures up to the last one.
  public init(count: Int, last: Instant) {
    self.count = count
    self.last = last
  }
}

/// A try that was counted as a failure before anybody knew whether it is one.
public struct LoginTry: Hashable, Sendable {
  /// The failures without it.
  public let before: LoginFailures?
  /// What is kept while the password is looked at.
  public let after: LoginFailures

  /// A try from what it changed.
  public init(before: LoginFailures?, after: LoginFailures) {
    self.before = before
    self.after = after
  }
}

/// How long an account or a source is kept from the next try.
///
/// The counts are durable: who could restart the service would otherwise start anew. The pause doubles and has an end,
/// because a lock for ever is a way to lock others out.
public enum LoginThrottle {
  /// After so many wrong passwords the pauses begin, with one second.
  public static let free = 5
  /// The longest pause: 15 minutes.
  public static let longestPause: Duration = .seconds(900)
  /// After so long without a failure all is forgotten: 24 hours.
  public static let memory: Duration = .seconds(86_400)

  /// So many accounts and sources are remembered with what they got wrong; a stranger with a network of addresses could
  /// add one with each password otherwise, for a day.
  public static let remembered = 300_000
  /// The most that a newcomer may be said to have got wrong before.
  private static let mostInherited = 100

  /// What is known of all those who are not remembered any more: none of them had more failures than that.
  ///
  /// Where there are too many, those with the fewest failures go, and whoever comes anew begins with as many as the
  /// greatest of them had. So nobody gets tries back by making others fill the memory: who has many stays, who had few
  /// is taken for somebody with a few more.
  public static func others(_ known: LoginFailures?, forgetting count: Int, at now: Instant) -> LoginFailures {
    LoginFailures(count: min(max(known?.count ?? 0, count), mostInherited), last: now)
  }

  /// How long to wait before a password is even looked at; none when it may be.
  ///
  /// The pauses begin after so many as are free: one address is many households, and has more.
  public static func pause(after failures: LoginFailures?, free: Int = LoginThrottle.free, at now: Instant) -> Duration?
  {
    guard let failures, failures.count >= free else { return nil }
    // Counted by a clock that was ahead: every try would find its whole pause before it, until that time comes.
    guard failures.last <= now + longestPause else { return nil }
    let doublings = min(failures.count - free, 20)
    let pause = min(Duration.seconds(1 << doublings), longestPause)
    let left = (failures.last + pause).since(now)
    // A clock that was set back would turn a pause of seconds into one of hours: never longer than the rule's own.
    return left > .zero ? min(left, pause) : nil
  }

  /// The failures when a try that was counted as one was none; nothing where there are none left.
  ///
  /// What others have counted since stays, and so does the time of the last of them.
  public static func givingBack(_ counted: LoginTry, from failures: LoginFailures?) -> LoginFailures? {
    guard let failures, failures != counted.after else { return failures == nil ? nil : counted.before }
    return failures.count > 1 ? LoginFailures(count: failures.count - 1, last: failures.last) : nil
  }

  /// The failures after one more.
  public static func adding(to failures: LoginFailures?, at now: Instant) -> LoginFailures {
    guard let failures, now.since(failures.last) < memory else {
      return LoginFailures(count: 1, last: now)
    }
    return LoginFailures(
      count: failures.count + 1,
      last: failures.last <= now + longestPause ? max(now, failures.last) : now)
  }
}
