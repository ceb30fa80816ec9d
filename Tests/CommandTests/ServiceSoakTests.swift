import TestSupport
import Testing

/// The soak of the whole service in small, and its proof that it can fail.
@Suite struct `what the service acknowledged survives kill -9` {
  @Test(
    arguments: [(["--cycles", "50"], 0), (["--cycles", "25", "--lose-log"], 1)]
      as [([String], Int32)])
  func `the soak program`(arguments: [String], status: Int32) throws {
    let program = try builtProgram("ServiceSoak")
    let ended = try run(program, arguments, deadline: 600)
    #expect(ended.status == status, "\(ended.outputText)\(ended.errorText)")
    #expect(ended.outputText.contains("LOST") == (status == 1))
  }

  @Test(arguments: [(["--backup"], 0), (["--backup", "--late"], 1)] as [([String], Int32)])
  func `and a backup under load restored elsewhere`(arguments: [String], status: Int32) throws {
    let program = try builtProgram("ServiceSoak")
    let ended = try run(program, arguments, deadline: 600)
    #expect(ended.status == status, "\(ended.outputText)\(ended.errorText)")
    #expect(ended.outputText.contains("LOST") == (status == 1))
  }
}
