import CommandKit
import RegentPlatform

/// Makes questions that are asked several times at once only once: ten players that start together cost one call.
final class SingleFlight<Answer: Sendable>: Sendable {
  private let running = Locked<[String: Task<Result<Answer, CommandError>, Never>]>([:])

  /// The answer to the question of that name; asked by whoever comes first, shared by all who come meanwhile.
  ///
  /// Nobody who gives up takes the answer from the others.
  func answer(
    _ name: String, _ ask: @escaping @Sendable () async throws(CommandError) -> Answer
  ) async throws(CommandError) -> Answer {
    let task = running.withLock { running in
      if let task = running[name] { return task }
      let task = Task.detached { () -> Result<Answer, CommandError> in
        defer { self.running.withLock { $0[name] = nil } }
        do throws(CommandError) {
          return .success(try await ask())
        } catch {
          return .failure(error)
        }
      }
      running[name] = task
      return task
    }
    return try await task.value.get()
  }
}
