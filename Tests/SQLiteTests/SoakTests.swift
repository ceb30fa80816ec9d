internal import TestSupport
internal import Testing

/// Runs the soak program briefly, and with faulty disks, where it must report a loss.
@Suite("Acknowledged writes survive crashes")
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
      testDescription: "a kernel that gets rows late is detected"),
    Run(
      arguments: ["power", "--cycles", "10", "--lying-disk"], status: 1,
      testDescription: "a disk that ignores synchronisation is detected"),
  ])
  func `the soak program finds lost writes on faulty disks and none on sound disks`(run soak: Run) throws {
    let ended = try run(builtProgram("Soak"), soak.arguments, deadline: 120)
    #expect(ended.status == soak.status, "\(ended.outputText)\(ended.errorText)")
    #expect(ended.outputText.contains("LOST") == (soak.status == 1))
  }
}
