import TestSupport
import Testing

/// What `doctor` says about the clock of the service's machine.
@Suite struct `The machine's clock in doctor` {
  @Test func `doctor says whether the machine's clock follows a time server`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        func said(_ answer: String) throws -> String {
          try shell.get(
            "mkdir -p bin && printf '#!/bin/sh\\n\(answer)\\n' > bin/timedatectl && chmod 755 bin/timedatectl && "
              + "PATH=$HOME/bin:$PATH regentctl doctor | grep -A 1 time-server || true")
        }
        let off = try said("echo no")
        #expect(off.hasPrefix("warn  time-server: the machine's clock follows no time server"), "\(off)")
        #expect(off.contains("fix: run timedatectl set-ntp true"), "\(off)")
        #expect(try said("echo yes").hasPrefix("ok    time-server: "))
        // A container has no systemd, and nothing is known.
        #expect(try said("exit 1") == "")
      }
    }
  }
}
