import RegentPlatform

extension TokenStore {
  /// Writes changes to the token store on a thread of its own, because the disk may block and the concurrency pool has
  /// only as many threads as cores.
  ///
  /// - Returns: the error if the changes were not written.
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
      // The system could not start a thread, so the calling thread writes and waits for the disk.
      do { try DedicatedThread.start(named: "token-store", work) } catch { work() }
    }
  }

  /// Writes the device id to disk on a thread of its own while the enabler waits for the network, before there are
  /// tokens to store.
  func installAheadOffPool() {
    // If the system cannot start a thread, the device id is written together with the tokens.
    _ = try? DedicatedThread.start(named: "token-store") { self.installAhead() }
  }
}
