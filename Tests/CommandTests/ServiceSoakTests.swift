import TestSupport
import Testing

/// A short run of the ServiceSoak program, and proof that it can fail.
@Suite struct `Acknowledged changes and kill -9` {
  @Test(
    arguments: [(["--cycles", "50"], 0), (["--cycles", "25", "--lose-log"], 1)]
      as [([String], Int32)])
  func `ServiceSoak finds no lost change after kill -9, and finds one when the log is lost`(
    arguments: [String], status: Int32
  ) throws {
    let program = try builtProgram("ServiceSoak")
    let ended = try run(program, arguments, deadline: 600)
    #expect(ended.status == status, "\(ended.outputText)\(ended.errorText)")
    #expect(ended.outputText.contains("LOST") == (status == 1))
  }

  @Test(arguments: [(["--backup"], 0), (["--backup", "--late"], 1)] as [([String], Int32)])
  func `a backup under load has every acknowledged change, and a late one is noticed`(
    arguments: [String], status: Int32
  ) throws {
    let program = try builtProgram("ServiceSoak")
    let ended = try run(program, arguments, deadline: 600)
    #expect(ended.status == status, "\(ended.outputText)\(ended.errorText)")
    #expect(ended.outputText.contains("LOST") == (status == 1))
  }
}
