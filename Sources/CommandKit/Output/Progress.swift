extension Console {
  /// Runs `work`; if it takes longer than a second, shows a progress line at the terminal.
  ///
  /// The line is on standard error and is removed at the end. `what` is evaluated each second, so that it can show how
  /// much is done. Without a terminal nothing is shown.
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
    // The line's task must have ended first, because a line that it draws later would stay.
    if await line.value { drawNote("\r\u{1b}[K") }
  }
}
