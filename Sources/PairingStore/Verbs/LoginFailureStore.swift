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

  /// Counts a try as a failure before the password is looked at.
  ///
  /// Guarantees: of several at once, on whichever nodes, each is counted on the one before; who has to wait is not.
  ///
  /// - Returns: nothing for whoever has to wait (``LoginThrottle/pause(after:free:at:)``).
  func takeLoginTry(of subject: LoginSubject, free: Int, at now: Instant) async throws(StoreError) -> LoginTry?

  /// Takes a try back that was no failure (``LoginThrottle/givingBack(_:from:)``).
  func giveBack(_ counted: LoginTry, of subject: LoginSubject) async throws(StoreError)

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
