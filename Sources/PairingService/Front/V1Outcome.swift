package import PairingStore
package import RegentPairing

/// The result of an endpoint's work on a request.
///
/// A request is held (as a long poll) at most once, and asks the store at most once before that. The types for the
/// following steps, ``V1Decision`` and ``V1Answer``, therefore offer no third step.
package enum V1Outcome: Sendable {
  case reply(V1Reply)
  /// The response needs the store, so it is computed outside the event loop.
  case later(@Sendable () async throws -> V1Reply)
  /// The response is held (as a long poll) until the state changes.
  case wait(V1Wait)
  /// The store must be asked before it is known whether the response is held as a long poll.
  case decide(@Sendable () async throws -> V1Decision)
}

extension V1Outcome {
  /// Runs the access to the store that this outcome still needs, and returns the decision: a response or a long poll.
  func decided() async throws -> V1Decision {
    switch self {
    case .reply(let reply): .reply(reply)
    case .later(let work): .reply(try await work())
    case .wait(let wait): .wait(wait)
    case .decide(let work): try await work()
    }
  }
}

/// The result of an endpoint's work on a request for which the store was asked already.
package enum V1Decision: Sendable {
  case reply(V1Reply)
  /// The response is held (as a long poll) until the state changes.
  case wait(V1Wait)
}

/// The result of an endpoint's work after a long poll has ended.
package enum V1Answer: Sendable {
  case reply(V1Reply)
  /// The response after a long poll needs the store, so it is computed outside the event loop.
  case later(@Sendable () async throws -> V1Reply)
}

/// Makes the response when a long poll ends.
///
/// The closure runs on an event loop, or on the thread that made the change, so it may read memory but not the store.
package typealias V1HeldAnswer = @Sendable (AuthenticationRecord?) throws(CallError) -> V1Answer

/// A response that is held as a long poll (`Prefer: wait`).
package struct V1Wait: Sendable {
  package let subject: Waiters.Subject
  /// The client that has the long poll, and the resource that it waits for.
  package let place: Waiters.Place
  /// The client's network.
  package let source: SourceKey?
  /// Returns true while the client would learn nothing new, so that the long poll continues.
  package let isStill: @Sendable () -> Bool
  /// The longest time that the long poll may last.
  package let span: Duration
  /// The granted length of the long poll in seconds, for the `Preference-Applied` header.
  package let granted: Int
  /// Makes the response for the state at the time of the call.
  ///
  /// The argument is the sign-in, if the long poll ended because the code was approved.
  package let answer: V1HeldAnswer

  package init(
    subject: Waiters.Subject, place: Waiters.Place, from source: SourceKey?, span: Duration, granted: Int,
    while isStill: @escaping @Sendable () -> Bool,
    answer: @escaping V1HeldAnswer
  ) {
    self.subject = subject
    self.place = place
    self.source = source
    self.isStill = isStill
    self.span = span
    self.granted = granted
    self.answer = answer
  }
}
