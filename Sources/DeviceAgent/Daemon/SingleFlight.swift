import CommandKit
import RegentPlatform

/// Merges identical simultaneous requests into one.
///
/// Ten players that start together cause one call to the service.
final class SingleFlight<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
  private let running = Locked<[Question: Task<Result<Answer, CommandError>, Never>]>([:])

  /// Returns the answer to a question.
  ///
  /// The first caller's request is sent; callers who ask the same meanwhile share its result.
  ///
  /// A cancelled caller does not cancel the request, because other callers may wait for it.
  func answer(
    _ question: Question, _ ask: @escaping @Sendable () async throws(CommandError) -> Answer
  ) async throws(CommandError) -> Answer {
    let task = running.withLock { running in
      if let task = running[question] { return task }
      let task = Task.detached { () -> Result<Answer, CommandError> in
        defer { self.running.withLock { $0[question] = nil } }
        do throws(CommandError) {
          return .success(try await ask())
        } catch {
          return .failure(error)
        }
      }
      running[question] = task
      return task
    }
    return try await task.value.get()
  }
}
