import TestSupport
import Testing

/// Checks that waiting for an event that never happens ends with an error that names the event.
@Suite("Waiting for a lost event")
struct LostEventTests {
  @Test func `a wait without its event fails with a sentence, on a thread and in a task`() async {
    func onThread() throws { try eventually("the door opens", within: 0) { false } }
    #expect(throws: lost("the door opens")) { try onThread() }
    await #expect(throws: lost("the door opens")) {
      try await eventually("the door opens", within: 0) { false }
    }
    await #expect(throws: lost("a guest")) {
      try await eventually("a guest", within: 0) { nil as String? }
    }
  }

  @Test func `a wait ends even if its callback, stream or task never does`() async {
    await #expect(throws: lost("a call")) {
      let _: Int = try await awaitingCallback("a call", within: 0) { _ in }
    }
    let (numbers, sink) = AsyncStream<Int>.makeStream()
    await #expect(throws: lost("a number")) { try await numbers.next("a number", within: 0) }
    sink.finish()
    let asleep = Task<Int, any Error> { try await awaitingCallback("nothing", within: 60) { _ in } }
    await #expect(throws: lost("the task")) { try await asleep.value("the task", within: 0) }
    asleep.cancel()
    await #expect(throws: lost("the flag")) {
      try await awaiting("the flag", within: 0) { try await Flag("it").wait() }
    }
  }

  @Test func `an event that happens late is still received`() async throws {
    var asked = 0
    try await eventually("the third time") {
      asked += 1
      return asked == 3
    }
    #expect(asked == 3)
    #expect(try await eventually("a value") { asked == 3 ? "yes" : nil } == "yes")
    let (numbers, sink) = AsyncStream<Int>.makeStream()
    for number in 1...3 { sink.yield(number) }
    #expect(try await numbers.first("the even one") { $0 % 2 == 0 ? $0 : nil } == 2)
    #expect(try await numbers.next("the next one") == 3)
  }

  private func lost(_ what: String) -> TestSupportError { TestSupportError("not within 0 s: \(what)") }
}
