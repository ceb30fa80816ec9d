import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

/// `regentctl account erase`, with a service that is killed meanwhile.
@Suite struct `Erasing a viewer` {
  @Test(arguments: [false, true])
  func `an erasure that a kill interrupted is completed by the next one`(hasServer: Bool) throws {
    let server = hasServer ? try PostgreSQLServer() : nil
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      func withService(_ body: (RegentdProcess) throws -> Void) throws {
        guard let server else { return try CommandTests.withService(in: folder, body) }
        try CommandTests.withService("--database", server.socketURL, in: folder, body)
      }
      for sign in ["account.erase", "audit.pseudonymise"] {
        try withService { service in
          try fill(shell)
          func lines() throws -> String { try shell.get("regentctl audit export --action '\(sign)' | wc -l") }
          let before = try lines()
          let regentctl = try RunningProgram(
            try builtProgram("regentctl"), ["account", "erase", "cable/anna", "--yes"], environment: ["HOME": folder])
          // The service is killed after the first step, and between two steps of the audit log.
          try eventually("a line \(sign)") { try lines() == before ? nil : true }
          service.program.signal(SIGKILL)
          _ = try service.program.wait()
          _ = try regentctl.wait(deadline: 60)
        }
        try withService { service in
          try expectWhole(shell)
          try shell.get("regentctl account erase cable anna --yes")
          #expect(try shell.refusal("regentctl account export cable anna").contains("there is no account cable/anna"))
          let names = try shell.get("regentctl audit export | grep -c 'cable/anna\"' || true")
          #expect(names == "0")
          #expect(try shell.get("regentctl account erase cable anna --yes").hasPrefix("cable/anna was erased before"))
          // The other viewer's lines are unchanged.
          #expect(try shell.get("regentctl audit export | grep -c 'cable/annabel\"'") == "2")
          service.program.signal(SIGTERM)
          _ = try service.program.wait()
        }
        try withService { service in
          try expectWhole(shell)
          service.program.signal(SIGTERM)
          _ = try service.program.wait()
        }
      }
    }
  }

  /// Expects that `doctor` finds neither a damaged row nor a missing line.
  private func expectWhole(_ shell: Operator) throws {
    let found = try shell.type("regentctl doctor").outputText
    // The test's server does not wait for its disk, which doctor reports.
    let bad = found.split(separator: "\n").filter { $0.contains("BAD") && !$0.contains("durability") }
    #expect(bad.isEmpty && found.contains("all signatures are valid"), "\(found)")
  }

  /// Makes an account with so many audit lines that an erasure takes several steps, and another account.
  private func fill(_ shell: Operator) throws {
    try shell.get(
      """
      regentctl provider add cable --name Cable --kind local && regentctl account add cable anna --no-password &&
      regentctl account add cable annabel --no-password && regentctl account set cable annabel --zip 1 && for N in \
      $(seq 260); do for IS in true false; do printf 'next\\nurl="http://localhost/v1/providers/cable/account?name=anna"\
      \\nunix-socket="%s"\\nrequest=PATCH\\ndata="{\\\\"disabled\\\\":%s}"\\noutput=/dev/null\\nsilent\\nfail\\n' \
      "$(find "$HOME" -name admin.sock)" $IS; done; done > calls && curl -K calls
      """)
  }
}
