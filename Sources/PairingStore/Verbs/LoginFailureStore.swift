public import RegentPairing

/// Counts failed sign-ins on disk, so that a restart does not give an attacker new tries.
public protocol LoginFailureStore: Sendable {
  /// The failures that are counted for an account or source address.
  func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures?

  /// Counts one more failure (``LoginThrottle/adding(to:at:)``).
  ///
  /// Counters are deleted when there are too many. A subject without a counter therefore starts with the highest count
  /// among the deleted ones (``LoginThrottle/others(_:forgetting:at:)``), if ``LoginSubject/inherits`` is true.
  ///
  /// - Returns: the failures including this one.
  func recordLoginFailure(of subject: LoginSubject, at now: Instant)
    async throws(StoreError) -> LoginFailures

  /// Counts a sign-in attempt as a failure before the password is checked.
  ///
  /// Guarantees: simultaneous attempts, also at different nodes, are counted one after the other. An attempt that must
  /// wait is not counted.
  ///
  /// - Returns: nil when the subject must wait (``LoginThrottle/pause(after:free:at:)``).
  func takeLoginTry(of subject: LoginSubject, free: Int, at now: Instant) async throws(StoreError) -> LoginTry?

  /// Undoes the count of an attempt that was no failure (``LoginThrottle/givingBack(_:from:)``).
  func giveBack(_ counted: LoginTry, of subject: LoginSubject) async throws(StoreError)

  /// Deletes the failures of a subject after a successful sign-in.
  func clearLoginFailures(of subject: LoginSubject) async throws(StoreError)
}

/// What failures are counted for.
public enum LoginSubject: Hashable, Sendable {
  /// An account name, whether the account exists or not.
  case account(ProviderID, AccountName)
  /// An account name together with the source address of the attempts.
  case accountFrom(SourceKey, ProviderID, AccountName)
  /// A source address.
  case source(SourceKey)

  /// Whether a subject without a counter starts with the highest count among deleted counters.
  ///
  /// False for an account from one source: this counter delays after five failures, so a viewer who mistypes once would
  /// wait because of an attack by others. The counters of the account and of the source still delay an attacker whose
  /// counter was deleted.
  public var inherits: Bool { if case .accountFrom = self { false } else { true } }
}
