import Platform
import Synchronization

/// Does what the machine wants done: calls services, keeps tokens, sleeps, tells the app.
final class Shell: Sendable {
  let deviceID = ""

  init(
    _ configuration: EnablerConfiguration, delegate: (any EntitlementDelegate)?
  ) throws(FileError) {}

  func stop() {}

  func post(_ message: Message) {}

  func newEventStream() -> AsyncStream<EntitlementEvent> { AsyncStream { $0.finish() } }

  func outcome(
    of message: Message, progress: (@Sendable (EntitlementEvent) -> Void)? = nil
  ) async throws(EntitlementError) -> RequestOutcome {
    throw EntitlementError(.outOfOrder)
  }
}
