public import RegentPairing

/// The part of the store that counts failed sign-ins.
///
/// It counts on disk, so that a restart does not give an attacker new tries.
public protocol LoginFailureStore: Sendable {
  /// The failed sign-ins that are counted for an account or source address.
  func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures?

  /// Counts one more failed sign-in (``LoginThrottle/adding(to:at:)``).
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

  /// Takes back the count of a sign-in attempt that turned out to be no failure
  /// (``LoginThrottle/givingBack(_:from:)``).
  func giveBack(_ counted: LoginTry, of subject: LoginSubject) async throws(StoreError)

  /// Deletes the count of failed sign-ins of a subject, after it has signed in successfully.
  func clearLoginFailures(of subject: LoginSubject) async throws(StoreError)
}

/// The account, source address or pair of both for which failed sign-ins are counted.
public enum LoginSubject: Hashable, Sendable {
  /// Failed sign-ins are counted for an account name, whether the account exists or not.
  case account(ProviderID, AccountName)
  /// Failed sign-ins are counted for an account name together with the source address of the attempts.
  case accountFrom(SourceKey, ProviderID, AccountName)
  /// Failed sign-ins are counted for a source address.
  case source(SourceKey)

  /// Whether a subject without a counter starts with the highest count among deleted counters.
  ///
  /// False for the counter of an account from one source address: it delays after five failures, so a viewer who
  /// mistypes once would wait because of an attack by others. An attacker whose counter was deleted is still delayed by
  /// the counter of the account and that of the source.
  public var inherits: Bool { if case .accountFrom = self { false } else { true } }
}
