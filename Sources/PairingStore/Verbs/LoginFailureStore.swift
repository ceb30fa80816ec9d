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

  /// Forgets the failures of an account that has signed in; those of a source are never forgotten this way.
  func clearLoginFailures(of provider: ProviderID, _ name: AccountName) async throws(StoreError)
}

/// Whose failed sign-ins are counted.
public enum LoginSubject: Hashable, Sendable {
  /// An account's, whether it exists or not.
  case account(ProviderID, AccountName)
  /// A source's.
  case source(SourceKey)
}
