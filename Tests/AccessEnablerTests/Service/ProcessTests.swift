import HTTPTestSupport
import TestSupport
import Testing

/// Tests of a whole process, the program SDKProbe.
@Suite("An app's process")
struct ProcessTests {
  @Test(arguments: ["exit-computing", "exit-fetching"])
  func `exit ends an app with its own code, even while the library computes or fetches`(kind: String)
    async throws
  {
    let probe = try builtProgram("SDKProbe")
    for _ in 0..<20 {
      let ended = await offPool { Result { try run(probe, [kind]) } }
      let result = try ended.get()
      #expect(result.status == 7, "\(result.errorText)")
    }
  }

  /// `make soak` runs this with a thousand sign-ins.
  @Test(.disabled(if: isSanitized, "a sanitizer's own memory grows"))
  func `memory does not grow from login to login`() async throws {
    let (probe, regentd) = (try builtProgram("SDKProbe"), try builtProgram("regentd"))
    let ended = await offPool {
      Result { try run(probe, ["logins", regentd, "300"], deadline: 600) }
    }
    let result = try ended.get()
    #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
  }
}
