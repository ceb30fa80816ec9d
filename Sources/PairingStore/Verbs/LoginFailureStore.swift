public import RegentPairing

/// Failed sign-ins, counted so that a restart gives no new tries.
public protocol LoginFailureStore: Sendable {
  /// The failures of one account or source.
  func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures?

  /// Counts one more (``LoginThrottle/adding(to:at:)``).
  ///
  /// Who is not remembered begins with what the others had who were forgotten to make room
  /// (``LoginThrottle/others(_:forgetting:at:)``), as far as ``LoginSubject/inherits`` says so.
  ///
  /// - Returns: the failures now.
  func recordLoginFailure(of subject: LoginSubject, at now: Instant)
    async throws(StoreError) -> LoginFailures

  /// Sets the failures of a subject, as long as they are what the caller knows.
  ///
  /// Guarantees: of several at once who know the same, on whichever nodes, one does it.
  ///
  /// - Returns: whether it was this one.
  func replaceLoginFailures(of subject: LoginSubject, _ known: LoginFailures?, by failures: LoginFailures?)
    async throws(StoreError) -> Bool

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

  /// Whether it is taken for one of those that were forgotten.
  ///
  /// An account's failures from one source are not: they begin to count after five, and a viewer who mistypes once
  /// would wait for what a crowd has done. The account and the source still hold whoever was forgotten.
  public var inherits: Bool { if case .accountFrom = self { false } else { true } }
}
