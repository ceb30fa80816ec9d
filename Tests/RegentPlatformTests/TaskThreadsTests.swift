import RegentPlatform
import TestSupport
import Testing

struct `Tasks on threads of their own` {
  @Test(.enabled(if: TaskThreads.replacesExecutor))
  func `tasks run, sleep and are cancelled without a thread of libdispatch`() throws {
    // In a process of its own, because the executor is chosen once for the whole process.
    let result = try run(try builtProgram("PlatformProbe"), ["tasks"])
    #expect(result.errorText == "")
    // ThreadSanitizer adds a thread that has the program's name.
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
