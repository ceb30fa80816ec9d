import Glibc
import TestSupport
import Testing

@Suite struct `regentd serve` {
  @Test func `regentd answers the health check, refuses unknown paths and methods, and forbids caching`() throws {
    try withService { service in
      let health = try fetch("\(service.url)/healthz")
      #expect(health.status == 200)
      #expect(health.body.hasPrefix(#"{"status":"ok","version":""#))
      #expect(health.header("content-type") == "application/json")
      #expect(health.header("cache-control") == "no-store")
      let head = try fetch("\(service.url)/healthz", method: "HEAD")
      #expect(head.status == 200)
      #expect(head.body == "")
      #expect(head.header("content-length") == health.header("content-length"))
      #expect(try fetch("\(service.url)/").status == 200)
      #expect(try fetch("\(service.url)/healthz/").status == 404)
      #expect(try fetch("\(service.url)/healthz/x").status == 404)
      #expect(try fetch("\(service.url)/nowhere").header("cache-control") == "no-store")
      let post = try fetch("\(service.url)/healthz", method: "POST")
      #expect(post.status == 405)
      #expect(post.header("allow")?.contains("GET") == true)
    }
  }

  @Test func `the service does not start without its web folder and creates no files then`() throws {
    try withTemporaryFolder { folder in
      func start(_ options: String..., from here: String) throws -> FinishedProgram {
        let command =
          "cd '\(here)' && exec \"$0\" serve --listen 127.0.0.1:0 \(options.joined(separator: " "))"
        return try run(
          "/bin/sh", ["-c", command, try builtProgram("regentd")], environment: ["HOME": folder])
      }
      let none = try start(from: folder)
      #expect(none.status == 1)
      #expect(none.errorText.contains("the folder with the phone's pages was not found"))
      #expect(none.errorText.contains("--web FOLDER"))

      let copied = try run("cp", ["-r", packageFolder() + "/web", "\(folder)/web"])
      #expect(copied.status == 0)
      try writeFile("\(folder)/web/templates/enter-code.html", Array("{{nothing}}".utf8))
      let broken = try start(from: folder)
      #expect(broken.status == 1)
      #expect(broken.errorText.contains("web/templates/enter-code.html:1: "))
      #expect(unsafe access("\(folder)/.local/state/regent/regent.db", F_OK) != 0)
    }
  }

  @Test func `the service prints one line when it is ready and logs to standard error`() throws {
    try withService { service in
      let output = try service.output
      #expect(output == "regentd: listening on \(service.url)\n")
      let log = try service.log.split(separator: "\n")
      #expect(log.count == 2)
      #expect(log[0].contains(" info starting version="))
      #expect(log[1].hasSuffix(" info listening address=\(service.url) url=\(service.url)"))
      #expect(log[0].prefix(24).allSatisfy { "0123456789-T:.Z".contains($0) })
    }
  }

  @Test func `the service logs one JSON document a line with --log json`() throws {
    try withService("--log", "json", "--public-url", "https://tv.example.org") { service in
      for line in try service.log.split(separator: "\n") {
        #expect(line.hasPrefix(#"{"time":1"#) && line.hasSuffix("}"))
      }
      let log = try service.log
      #expect(
        log.contains(
          #""event":"listening","address":"\#(service.url)","url":"https://tv.example.org""#))
    }
  }

  @Test func `the service logs priorities instead of times when its standard error is the journal`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/log", [])
      var status = stat()
      #expect(unsafe stat("\(folder)/log", &status) == 0)
      let stream = "\(status.st_dev):\(status.st_ino)"
      try withService(environment: ["JOURNAL_STREAM": stream], in: folder) { service in
        let log = try service.log
        #expect(log.hasPrefix("<6>starting version="))
      }
    }
    // The variable is inherited from a session, but standard error is not the journal.
    try withService(environment: ["JOURNAL_STREAM": "8:1"]) { service in
      let log = try service.log
      #expect(log.contains(" info starting version="))
    }
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `the service stops cleanly on SIGTERM and SIGINT`(signal: Int32) throws {
    try withService { service in
      service.program.signal(signal)
      #expect(try service.program.wait() == 0)
      let log = try service.log
      #expect(
        log.contains(" info stopping signal=\(signal == SIGINT ? "INT" : "TERM")\n"))
      #expect(log.contains(" info stopped requests=0\n"))
      #expect(throws: TestSupportError.self) { try fetch("\(service.url)/healthz") }
    }
  }

  @Test func `an open connection does not keep the service from stopping`() throws {
    try withService { service in
      let idle = try openConnection(to: service.url)
      defer { close(idle) }
      service.program.signal(SIGTERM)
      #expect(try service.program.wait() == 0)
    }
  }

  @Test func `the service keeps running after SIGHUP`() throws {
    try withService { service in
      service.program.signal(SIGHUP)
      _ = try eventually("reloaded") { try service.log.contains(" info reloaded\n") ? true : nil }
      #expect(try fetch("\(service.url)/healthz").status == 200)
    }
  }

  @Test func `a second service on the same port is refused with a hint`() throws {
    try withService { service in
      let port = service.url.drop { $0 != ":" }.dropFirst(3).drop { $0 != ":" }.dropFirst()
      let second = try run(
        try builtProgram("regentd"), ["serve", "--listen", "127.0.0.1:\(port)"],
        environment: ["HOME": service.folder])
      #expect(second.status == 1)
      #expect(second.outputText == "")
      #expect(
        second.errorText == """
          regentd: another program is already listening on 127.0.0.1:\(port)
            hint: stop that program, or choose another address with --listen

          """)
      #expect(try fetch("\(service.url)/healthz").status == 200)
    }
  }

  @Test func `the service listens on several addresses at once`() throws {
    try withService("--listen", "[::1]:0") { service in
      let urls = try service.urls
      #expect(urls.count == 2)
      #expect(urls[1].hasPrefix("http://[::1]:"))
      for url in urls { #expect(try fetch("\(url)/healthz").status == 200) }
    }
  }

  @Test func `metrics are served on their own address only`() throws {
    try withService("--metrics-listen", "127.0.0.1:0") { service in
      _ = try fetch("\(service.url)/healthz")
      let place = try service.metricsURL
      let metrics = try fetch("\(place)/metrics")
      #expect(metrics.status == 200)
      #expect(metrics.body.contains("\nregent_http_requests_total 1\n"))
      #expect(try fetch("\(service.url)/metrics").status == 404)
      #expect(try fetch("\(place)/healthz").status == 404)
    }
  }

  @Test func `metrics report the duration of commits and the number of requests in each`() throws {
    let port = try freePort()
    try withService("--metrics-listen", "127.0.0.1:\(port)") { service in
      let text = try fetch("http://127.0.0.1:\(port)/metrics").body
      func number(_ name: String) throws -> Double {
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return try #require(line?.split(separator: " ").last.flatMap { Double($0) }, "\(name)")
      }
      // A first start stores keys, so that there were commits.
      let commits = try number("regent_commit_seconds_count")
      #expect(commits > 0)
      #expect(try number("regent_commit_seconds_sum") > 0)
      #expect(try number("regent_commit_requests_count") == commits)
      #expect(try number("regent_commit_requests_sum") >= commits)
      for name in ["commit_seconds", "commit_requests"] {
        let counts = text.split(separator: "\n").filter { $0.hasPrefix("regent_\(name)_bucket") }
          .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        #expect(counts.count > 8)
        #expect(counts == counts.sorted(), "\(name) is cumulative")
        #expect(counts.last == commits)
      }
    }
  }

  @Test func `only the service's user can read its state folder`() throws {
    try withService { service in
      var status = stat()
      #expect(unsafe stat("\(service.folder)/.local/state/regent", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o700)
    }
  }

  @Test func `the service warns when passwords would travel unencrypted`() throws {
    try withService("--public-url", "http://tv.example.org") { service in
      let log = try service.log
      #expect(
        log.contains(
          #" warning plain-http url=http://tv.example.org hint="passwords are not encrypted on the network""#))
    }
  }

  @Test func `the service speaks TLS, and loads a new certificate on SIGHUP`() throws {
    try withTemporaryFolder { folder in
      // A path may contain any characters and appears in the log.
      let folder = "\(folder)/\u{1b}]0;x\u{7}\n2026 info \"quoted\""
      #expect(unsafe mkdir(folder, 0o700) == 0)
      func makeCertificate(named name: String) throws {
        let made = try run(
          "openssl",
          [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=\(name)", "-days", "2", "-keyout", "\(folder)/new.key", "-out",
            "\(folder)/new.pem",
          ])
        #expect(made.status == 0, "\(made.errorText)")
        for kind in ["key", "pem"] {
          try writeFile("\(folder)/\(kind)", try readFile("\(folder)/new.\(kind)"))
        }
      }
      func shownName(_ service: RegentdProcess) throws -> String {
        let address = String(service.url.dropFirst("https://".count))
        return try run("openssl", ["s_client", "-nameopt", "RFC2253", "-connect", address]).outputText
      }
      try makeCertificate(named: "first.example")
      try withService(
        "--tls-certificate", "\(folder)/pem", "--tls-key", "\(folder)/key"
      ) { service in
        #expect(service.url.hasPrefix("https://127.0.0.1:"))
        #expect(try shownName(service).contains("CN=first.example"))
        try makeCertificate(named: "second.example")
        service.program.signal(SIGHUP)
        _ = try eventually("the new certificate") {
          try shownName(service).contains("CN=second.example") ? true : nil
        }
        // A broken certificate changes nothing.
        try writeFile("\(folder)/pem", Array("rubbish".utf8))
        service.program.signal(SIGHUP)
        _ = try eventually("a line about it") {
          try service.log.contains(" error not-reloaded reason=") ? true : nil
        }
        #expect(try shownName(service).contains("CN=second.example"))
        let log = try service.log
        #expect(!log.contains("\u{1b}"))
        #expect(
          log.split(separator: "\n").allSatisfy {
            $0.dropFirst(24).hasPrefix(" info ") || $0.contains(" error ")
          })
      }
    }
  }

  @Test func `the service listens on a Unix socket`() throws {
    try withTemporaryFolder { folder in
      try withService("--listen", "unix:\(folder)/socket") { service in
        let output = try service.output
        #expect(output.hasSuffix("\nregentd: listening on unix:\(folder)/socket\n"))
      }
    }
  }

  @Test func `the service extends its start timeout while it upgrades an old database`() throws {
    try withTemporaryFolder { folder in
      // Reads all the time, as systemd does: the kernel queues only ten messages for a reader that does not.
      let manager = """
        import socket, sys
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind(sys.argv[1])
        while True:
            print(listener.recv(4096).decode().replace("\\n", "; "), flush=True)
        """
      let reader = try RunningProgram("python3", ["-c", manager, "\(folder)/notify"], standardOutput: "\(folder)/told")
      defer { reader.signal(9) }
      try eventually("the manager") { unsafe access("\(folder)/notify", F_OK) == 0 ? true : nil }
      func told() throws -> [Substring] {
        String(decoding: try readFile("\(folder)/told"), as: UTF8.self).split(separator: "\n")
      }
      let shell = Operator(folder: folder)
      let old = "\(packageFolder())/Tests/fixtures/0.1.0"
      try shell.get("install -d -m 700 \(shell.state) && install -m 600 \(old)/{regent.db,master-key} \(shell.state)")
      for isOld in [true, false] {
        let before = try told().count
        try withService(environment: ["NOTIFY_SOCKET": "\(folder)/notify"], in: folder) { service in
          let ready = "READY=1; STATUS=listening on \(service.url)"
          let said = try eventually("the service is ready") {
            let new = try told().dropFirst(before)
            return new.last.map(String.init) == ready ? Array(new.dropLast()) : nil
          }
          // An extension comes before each status, because a million rows take longer than the start timeout.
          #expect(said.isEmpty != isOld && said.count.isMultiple(of: 2), "\(said)")
          for (place, message) in said.enumerated() {
            let wanted =
              place.isMultiple(of: 2)
              ? "EXTEND_TIMEOUT_USEC=300000000" : "STATUS=migrating the database: "
            #expect(message.hasPrefix(wanted), "\(said)")
          }
          let requestors = try shell.get("regentctl requestor list")
          #expect(requestors.contains("cinema"))
          service.program.signal(SIGTERM)
          #expect(try service.program.wait() == 0)
          try eventually("the end was told") { try told().last == "STOPPING=1" ? true : nil }
        }
      }
    }
  }

  @Test func `the service notifies systemd when it is ready, reloads and stops`() throws {
    try withTemporaryFolder { folder in
      let manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      defer { close(manager) }
      let path = "\(folder)/notify"
      #expect(bindUnixSocket(manager, path))
      try withService(environment: ["NOTIFY_SOCKET": path]) { service in
        #expect(receive(manager) == "READY=1\nSTATUS=listening on \(service.url)")
        service.program.signal(SIGHUP)
        #expect(receive(manager).hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(receive(manager).hasPrefix("READY=1\n"))
        service.program.signal(SIGTERM)
        #expect(receive(manager) == "STOPPING=1")
      }
    }
  }
}

extension RegentdProcess {
  /// The address that `--metrics-listen` with port 0 got.
  var metricsURL: String {
    get throws {
      let line = try eventually("a line about metrics") {
        try log.split(separator: "\n").first { $0.contains(" info metrics address=") }
      }
      return "http://\(line.drop { $0 != "=" }.dropFirst())"
    }
  }
}

/// Runs a service in the given folder, or in a folder of its own.
func withService(
  _ options: String..., environment: [String: String] = [:], in given: String? = nil,
  _ body: (RegentdProcess) throws -> Void
) throws {
  try withTemporaryFolder { own in
    let folder = given ?? own
    try body(
      RegentdProcess(
        try builtProgram("regentd"), in: folder, options,
        environment: environment.merging(["HOME": folder]) { given, _ in given }))
  }
}

private func bindUnixSocket(_ descriptor: Int32, _ path: String) -> Bool {
  unsafe withUnixAddress(path) { unsafe bind(descriptor, $0, $1) == 0 }
}

/// Connects to a Unix socket by its path.
func connectUnixSocket(_ descriptor: Int32, _ path: String) -> Bool {
  unsafe withUnixAddress(path) { unsafe connect(descriptor, $0, $1) == 0 }
}

private func withUnixAddress(
  _ path: String, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Bool
) -> Bool {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
  return unsafe withUnsafePointer(to: address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
      unsafe use(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}

/// The next message, or an empty text after 60 seconds.
private func receive(_ descriptor: Int32) -> String {
  var patience = timeval(tv_sec: 60, tv_usec: 0)
  unsafe setsockopt(
    descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  var buffer = [UInt8](repeating: 0, count: 4_096)
  let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
  return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
}
