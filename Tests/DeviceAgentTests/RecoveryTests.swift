import TestSupport
import Testing

@testable import DeviceAgent

/// An hour is beyond what a test waits: a pause that does not end early is a failure.
@Suite struct `A pause between two tries` {
  @Test func `ends when the network changes`() async throws {
    let recovery = Recovery()
    let pause = Task { await recovery.pause(.seconds(3_600)) }
    recovery.changed()
    try await awaiting("the end of the pause") { await pause.value }
  }

  @Test func `ends when the network changed while the try was under way`() async throws {
    let recovery = Recovery()
    recovery.changed()
    try await awaiting("the end of the pause") { await recovery.pause(.seconds(3_600)) }
  }

  @Test func `ends with its time and with its task`() async throws {
    let recovery = Recovery()
    try await awaiting("the time") { await recovery.pause(.milliseconds(1)) }
    let pause = Task { await recovery.pause(.seconds(3_600)) }
    pause.cancel()
    try await awaiting("the end of the task") { await pause.value }
  }
}
