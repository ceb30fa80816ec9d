public import RegentPairing

/// Failed sign-ins, counted so that a restart gives no new tries.
public protocol LoginFailureStore: Sendable {
  /// The failures of one account or source.
  func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures?

  /// Counts one more (``LoginThrottle/adding(to:at:)``).
  ///
  /// - Returns: the failures now.
  func recordLoginFailure(of subject: LoginSubject, at now: Instant)
    async throws(StoreError) -> LoginFailures

  /// Forgets the failures of a subject: an account has signed in.
  func clearLoginFailures(of subject: LoginSubject) async throws(StoreError)
}

/// Whose failed sign-ins are counted.
public enum LoginSubject: Hashable, Sendable {
  /// An account's, whether it exists or not.
  case account(ProviderID, AccountName)
  /// An account's that came from one source.
  case accountFrom(SourceKey, ProviderID, AccountName)
  /// A source's.
  case source(SourceKey)
}
