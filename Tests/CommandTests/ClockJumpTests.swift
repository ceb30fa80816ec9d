import Glibc
import TestSupport
import Testing

/// regentd with a clock that jumps, by libfaketime.
@Suite(.enabled(if: clockLibrary != nil, noClockLibrary))
struct `regentd when the clock jumps` {
  /// `wallClockAlone` "0" also moves the monotonic clock, which no kernel does; timers then never fire.
  @Test(arguments: ["+31d", "-31d"], ["0", "1"])
  func `the service ends in time after its clock has jumped`(jump: String, wallClockAlone: String) throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/time", Array("+0".utf8))
      let environment = [
        "LD_PRELOAD": clockLibrary ?? "", "FAKETIME_TIMESTAMP_FILE": "\(folder)/time",
        "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": wallClockAlone,
      ]
      try withService(environment: environment, in: folder) { service in
        for time in [jump, "+0"] {
          try writeFile("\(folder)/time", Array(time.utf8))
          #expect(try fetch("\(service.url)/healthz").status == 200)
        }
        service.program.signal(SIGTERM)
        let status = try eventually("the end of regentd", within: 30) { service.program.poll() }
        #expect(status == 0)
        #expect(try service.log.contains(" info stopped "))
      }
    }
  }
}

extension `regentd when the clock jumps` {
  /// No kernel sets the monotonic clock back, but a faulty virtual machine may.
  ///
  /// The writer must survive it.
  @Test func `the service keeps writing when every clock is set back`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/time", Array("+0".utf8))
      let environment = [
        "LD_PRELOAD": clockLibrary ?? "", "FAKETIME_TIMESTAMP_FILE": "\(folder)/time", "FAKETIME_NO_CACHE": "1",
      ]
      try withService(environment: environment, in: folder) { service in
        let writing = try RunningProgram(
          "sh", ["-c", "for n in $(seq 100); do timeout 5 regentctl requestor add r$n; done >&2"],
          environment: ["HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin"])
        var time = 0
        _ = try eventually("the end of the writing", within: 60) {
          time = time == 0 ? 40 : 0
          try writeFile("\(folder)/time", Array("+\(time)d".utf8))
          return writing.poll() ?? service.program.poll()
        }
        let log = try service.log
        #expect(service.program.poll() == nil, "\(log)")
        #expect(try fetch("\(service.url)/healthz").status == 200)
      }
    }
  }
}

let noClockLibrary: Comment = "no libfaketime here (apt-get install faketime), or ThreadSanitizer, which it stops"
