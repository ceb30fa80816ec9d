/// One step of ``AccessEnabler/signIn(_:isForced:data:filter:)``.
@nonexhaustive
public enum SignInStep: Hashable, Sendable {
  /// An event of the sign-in, for example a registration code to show, a phone that opened the code's page, or a URL to
  /// load.
  case progress(EntitlementEvent)
  /// This device is signed in.
  ///
  /// This is the last step.
  case signedIn(SignIn)
}

/// The steps of one sign-in, delivered in the isolation of the code that iterates over them.
public struct SignInSteps: AsyncSequence, Sendable {
  public typealias Element = SignInStep
  public typealias Failure = EntitlementError

  private let steps: AsyncStream<Result<SignInStep, EntitlementError>>

  init(_ steps: AsyncStream<Result<SignInStep, EntitlementError>>) { self.steps = steps }

  /// Returns an iterator over the steps.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(steps.makeAsyncIterator()) }

  /// Iterates over the steps.
  public struct AsyncIterator: AsyncIteratorProtocol {
    public typealias Element = SignInStep
    public typealias Failure = EntitlementError

    private var steps: AsyncStream<Result<SignInStep, EntitlementError>>.AsyncIterator
    private var isOver = false

    init(_ steps: AsyncStream<Result<SignInStep, EntitlementError>>.AsyncIterator) {
      self.steps = steps
    }

    /// Returns the next step of the sign-in; nil after the last one.
    ///
    /// - Throws: ``EntitlementError``; `.cancelled` if the iterating task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(EntitlementError) -> SignInStep? {
      guard !isOver else { return nil }
      guard let step = await steps.next(isolation: actor) else {
        isOver = true
        throw EntitlementError(.cancelled)
      }
      switch step {
      case .success(.progress(let event)): return .progress(event)
      case .success(.signedIn(let signIn)):
        isOver = true
        return .signedIn(signIn)
      case .failure(let error):
        isOver = true
        throw error
      }
    }
  }
}
