import CommandKit
import RegentPlatform

/// Makes questions that are asked several times at once only once: ten players that start together cost one call.
final class SingleFlight<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
  private let running = Locked<[Question: Task<Result<Answer, CommandError>, Never>]>([:])

  /// The answer to that question; asked by whoever comes first, shared by all who come meanwhile.
  ///
  /// Nobody who gives up takes the answer from the others.
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
