import TestSupport
import Testing

struct `Tasks on threads of their own` {
  @Test func `run, sleep, are cancelled, and need no thread of libdispatch`() throws {
    // In a process of its own: the executor is chosen once for all.
    let result = try run(try builtProgram("PlatformProbe"), ["tasks"])
    #expect(result.errorText == "")
    // ThreadSanitizer has a thread of its own, under the program's name.
    let text =
      isSanitized
      ? result.outputText.replacing(#""PlatformProbe", "PlatformProbe""#, with: #""PlatformProbe""#)
      : result.outputText
    #expect(
      text.split(separator: "\n") == [
        "counted 1000", "woke first", "woke second", "cancelled true", "unblocked 2",
        #"threads ["PlatformProbe", "tasks", "tasks", "timer"]"#,
      ])
  }
}
