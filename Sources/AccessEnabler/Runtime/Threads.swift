import RegentPlatform

extension TokenStore {
  /// Saves on a thread of its own: the disk may sleep, and the concurrency pool has as many threads as cores.
  ///
  /// - Returns: why the disk did not take the changes, if it did not.
  @discardableResult
  func saveOffPool(_ changes: [UnsavedChange]) async -> FileError? {
    await withCheckedContinuation { continuation in
      let work: @Sendable () -> Void = {
        do throws(FileError) {
          try self.save(changes)
          continuation.resume(returning: nil)
        } catch {
          continuation.resume(returning: error)
        }
      }
      // The system has no thread left: the tokens are written on this one, which then waits for the disk.
      do { try DedicatedThread.start(named: "token-store", work) } catch { work() }
    }
  }

  /// The same ahead of the tokens, while the network is waited for.
  func installAheadOffPool() {
    // When the system has no thread left it is done with the tokens.
    _ = try? DedicatedThread.start(named: "token-store") { self.installAhead() }
  }
}
