extension Console {
  /// Runs something that may take a while; people at a terminal are told what is being done after a second.
  ///
  /// The line is on standard error and is gone when the work ends; `what` is asked for anew each second, so that it may
  /// say how far the work is. Without a terminal nothing is said.
  public func progress<Result: Sendable>(
    _ what: @autoclosure @escaping @Sendable () -> String, _ work: @Sendable () async throws -> Result
  ) async rethrows -> Result {
    guard errors.isTerminal else { return try await work() }
    let line = Task {
      var seconds = 0
      while (try? await Task.sleep(for: .seconds(1))) != nil {
        seconds += 1
        let text = truncated("\(harmless(what())) … \(seconds) s", to: (errors.columns() ?? 80) - 1)
        drawNote("\r\u{1b}[K\(text)")
      }
      return seconds > 0
    }
    do {
      let result = try await work()
      await remove(line)
      return result
    } catch {
      await remove(line)
      throw error
    }
  }

  private func remove(_ line: Task<Bool, Never>) async {
    line.cancel()
    // Waits, because a line drawn after this would stay.
    if await line.value { drawNote("\r\u{1b}[K") }
  }
}
