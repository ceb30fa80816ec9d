import Glibc
import TestSupport
import Testing

@Suite struct `regentd serve in difficult surroundings` {
  @Test func `the service works and stops although the reader of its log does not read`() throws {
    try withTemporaryFolder { folder in
      #expect(unsafe mkfifo("\(folder)/log", 0o600) == 0)
      let reader = unsafe open("\(folder)/log", O_RDWR | O_CLOEXEC | O_NONBLOCK)
      defer { close(reader) }
      let filler = [UInt8](repeating: 0x2e, count: 4_096)
      while unsafe write(reader, filler, filler.count) > 0 {}
      try withService(in: folder) { service in
        service.program.signal(SIGHUP)
        let health = try fetch("\(service.url)/healthz")
        #expect(health.status == 200)
        service.program.signal(SIGTERM)
        let end = try service.program.wait()
        #expect(end == 0)
      }
    }
  }

  @Test func `the service opens nothing under the numbers of closed standard streams`() throws {
    try withTemporaryFolder { folder in
      let program = try RunningProgram(
        "/bin/sh",
        [
          "-c", "exec \"$0\" serve --listen unix:\(folder)/s --public-url http://a <&- >&- 2>&-",
          try builtProgram("regentd"),
        ], environment: ["HOME": folder], standardOutput: "\(folder)/out",
        standardError: "\(folder)/log")
      _ = try eventually("the socket") { unsafe access("\(folder)/s", F_OK) == 0 ? true : nil }
      for number in 0...2 {
        let target = try run("readlink", ["/proc/\(program.pid)/fd/\(number)"]).outputText
        #expect(target == "/dev/null\n")
      }
      program.signal(SIGTERM)
      let end = try program.wait()
      #expect(end == 0)
    }
  }

  @Test func `the service keeps its certificate when the new file is a pipe`() throws {
    try withTemporaryFolder { folder in
      let made = try run(
        "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
          "-subj", "/CN=a", "-days", "2", "-keyout", "\(folder)/key", "-out", "\(folder)/pem",
        ])
      #expect(made.status == 0, "\(made.errorText)")
      #expect(unsafe chmod("\(folder)/key", 0o600) == 0)
      #expect(unsafe symlink("pem", "\(folder)/newest") == 0)
      try withService(
        "--tls-certificate", "\(folder)/newest", "--tls-key", "\(folder)/key"
      ) { service in
        #expect(unsafe unlink("\(folder)/pem") == 0)
        #expect(unsafe mkfifo("\(folder)/pem", 0o600) == 0)
        service.program.signal(SIGHUP)
        _ = try eventually("a line about it") {
          try service.log.contains("not-reloaded reason=") ? true : nil
        }
        service.program.signal(SIGTERM)
        let end = try service.program.wait()
        #expect(end == 0)
      }
    }
  }
}
