import PostgreSQL
import RegentPlatform
import TestSupport

/// A thread that cancels another connection's statement once that waits for the standby.
struct RunningCancel {
  private let thread: DedicatedThread

  init(url: String, backend: Int32, _ done: Flag) throws {
    thread = try DedicatedThread.start(named: "cancel") {
      do {
        let connection = try Connection.open(ConnectionSettings(url: url), by: soon)
        try eventually("a wait for the standby") {
          try !connection.run(
            "SELECT 1 FROM pg_stat_activity WHERE pid = \(Int(backend)) AND wait_event = 'SyncRep'", by: soon
          ).isEmpty
        }
        try connection.run("SELECT pg_cancel_backend(\(Int(backend)))", by: soon)
        done.raise()
      } catch {
        print("no cancel: \(error)")
      }
    }
  }

  func join() { thread.join() }
}
