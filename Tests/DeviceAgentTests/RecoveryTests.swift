import TestSupport
import Testing

@testable import DeviceAgent

/// The pauses last an hour, longer than a test waits, so that a pause that does not end early is a failure.
@Suite struct `The pause between two attempts` {
  @Test func `the pause before a retry ends when the network changes`() async throws {
    let recovery = Recovery()
    let pause = Task { await recovery.pause(.seconds(3_600)) }
    recovery.changed()
    try await awaiting("the end of the pause") { await pause.value }
  }

  @Test func `if the network changed during an attempt, the next attempt follows without a pause`() async throws {
    let recovery = Recovery()
    recovery.changed()
    try await awaiting("the end of the pause") { await recovery.pause(.seconds(3_600)) }
  }

  @Test func `the pause before a retry ends after its time, and when its task is cancelled`() async throws {
    let recovery = Recovery()
    try await awaiting("the time") { await recovery.pause(.milliseconds(1)) }
    let pause = Task { await recovery.pause(.seconds(3_600)) }
    pause.cancel()
    try await awaiting("the end of the task") { await pause.value }
  }
}
