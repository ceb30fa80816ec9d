package import PairingStore
internal import RegentPairing

/// What an endpoint makes of a call.
///
/// A call waits at most once, and is decided about at most once: what follows on either has a type of its own, which
/// has no third step to offer.
package enum V1Outcome: Sendable {
  /// The answer.
  case reply(V1Reply)
  /// The answer needs the store: it is computed away from the event loop.
  case later(@Sendable () async throws -> V1Reply)
  /// The answer is held until something changes.
  case wait(V1Wait)
  /// The store has to be asked before it is known whether the answer is held.
  case decide(@Sendable () async throws -> V1Decision)
}

extension V1Outcome {
  /// The same for a call about which the store was asked already.
  func decided() async throws -> V1Decision {
    switch self {
    case .reply(let reply): .reply(reply)
    case .later(let work): .reply(try await work())
    case .wait(let wait): .wait(wait)
    case .decide(let work): try await work()
    }
  }
}

/// What an endpoint makes of a call once the store was asked.
package enum V1Decision: Sendable {
  /// The answer.
  case reply(V1Reply)
  /// The answer is held until something changes.
  case wait(V1Wait)
}

/// What a wait that is over comes to.
package enum V1Answer: Sendable {
  /// The answer.
  case reply(V1Reply)
  /// The answer needs the store: it is computed away from the event loop.
  case later(@Sendable () async throws -> V1Reply)
}

/// Decides on an event loop, or where the change was made, what a wait that is over comes to.
package typealias V1HeldAnswer = @Sendable (AuthenticationRecord?) throws(CallError) -> V1Answer

/// A held answer (`Prefer: wait`).
package struct V1Wait: Sendable {
  /// What is waited for.
  package let subject: Waiters.Subject
  /// By whom, for what.
  package let place: Waiters.Place
  /// Whether there is still nothing new for the caller.
  package let isStill: @Sendable () -> Bool
  /// How long at most.
  package let span: Duration
  /// The wait that was granted, in seconds.
  package let granted: Int
  /// The answer as of the moment it is asked; with the sign-in, when the wait ended because the code was approved.
  package let answer: V1HeldAnswer

  /// A wait for something new.
  package init(
    subject: Waiters.Subject, place: Waiters.Place, span: Duration, granted: Int,
    while isStill: @escaping @Sendable () -> Bool,
    answer: @escaping V1HeldAnswer
  ) {
    self.subject = subject
    self.place = place
    self.isStill = isStill
    self.span = span
    self.granted = granted
    self.answer = answer
  }
}
