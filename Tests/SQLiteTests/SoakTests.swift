internal import TestSupport
internal import Testing

/// The soak program in small, and its proof that it can fail.
@Suite("Acknowledged writes survive")
struct SoakTests {
  struct Run: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let status: Int32
    let testDescription: String
  }

  @Test(arguments: [
    Run(
      arguments: ["kill", "--cycles", "50"], status: 0, testDescription: "50 kills lose nothing"),
    Run(
      arguments: ["power", "--cycles", "40"], status: 0,
      testDescription: "40 power cuts lose nothing"),
    Run(
      arguments: ["kill", "--cycles", "20", "--late-log"], status: 1,
      testDescription: "answers before the kernel has the row are found out"),
    Run(
      arguments: ["power", "--cycles", "10", "--lying-disk"], status: 1,
      testDescription: "answers before the disk has the row are found out"),
  ])
  func `the soak program`(run soak: Run) throws {
    let ended = try run(builtProgram("Soak"), soak.arguments, deadline: 120)
    #expect(ended.status == soak.status, "\(ended.outputText)\(ended.errorText)")
    #expect(ended.outputText.contains("LOST") == (soak.status == 1))
  }
}
