import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

extension Operator {
  /// Runs SQL on the server and returns the output.
  func ask(_ server: PostgreSQLServer, _ sql: String) throws -> String {
    try get("psql -X -A -t -q '\(server.socketURL)' -c \"\(sql)\"")
  }

  /// Starts a program that the test may kill.
  func begin(_ program: String, _ words: [String]) throws -> RunningProgram {
    try get("mkdir -p temporary")
    return try RunningProgram(
      builtProgram(program), words,
      environment: ["HOME": folder, "PATH": "/usr/bin:/bin", "TMPDIR": "\(folder)/temporary"])
  }

  /// Adds a requestor, a provider and an account, so that a box can sign in.
  func provisionSample() throws {
    try get(
      """
      regentctl requestor add acme && regentctl key issue acme --json > key && regentctl provider add cable \
      --name Cable --kind local && regentctl integrate acme cable && \
      echo correct-horse-battery | regentctl account add cable anna && regentctl entitle add cable --allow 'news*'
      """)
  }

  func approve(_ code: String) throws { try get("regentctl code approve \(code) --provider cable --account anna") }

  /// Holds a lock on a table until the program ends.
  func hold(_ table: String, _ mode: String, on server: PostgreSQLServer) throws -> RunningProgram {
    let held = try RunningProgram(
      "psql",
      ["-X", "-q", server.socketURL, "-c", "BEGIN; LOCK TABLE \(table) IN \(mode) MODE; SELECT pg_sleep(300)"],
      environment: ["HOME": folder, "PATH": "/usr/bin:/bin", "PGAPPNAME": "holder"])
    try eventually("the table to be held") {
      try ask(server, "SELECT count(*) FROM pg_locks WHERE relation = to_regclass('\(table)') AND granted") != "0"
    }
    return held
  }

  /// Ends the lock.
  ///
  /// The server does not notice by itself that its client is gone.
  func letGo(_ holder: RunningProgram, on server: PostgreSQLServer) throws {
    let holders = "FROM pg_stat_activity WHERE application_name"
    _ = try ask(server, "SELECT pg_terminate_backend(pid) \(holders) = 'holder'")
    _ = try holder.wait()
    try eventually("the server to undo what was cut short") {
      try ask(server, "SELECT count(*) \(holders) IN ('regent copy', 'holder')") == "0"
    }
  }

  /// Waits until the copy waits for this event at the server.
  func awaitWait(_ kind: String, on server: PostgreSQLServer) throws {
    try eventually("the copy to wait for \(kind)") {
      let waits = "'\(kind)' IN (wait_event, wait_event_type)"
      let copies = "FROM pg_stat_activity WHERE application_name = 'regent copy'"
      return try ask(server, "SELECT count(*) \(copies) AND \(waits)") != "0"
    }
  }

  /// Kills a move that has reached this table of the server.
  ///
  /// The server's tables exist and are empty, as an owner makes them for a role that may only write rows.
  func cutMove(at table: String, on server: PostgreSQLServer) throws {
    let url = server.socketURL
    try get("cp -a \(state) kept && regentd move --to '\(url)'")
    try get("rm -r \(state) && mv kept \(state)")
    let names = "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = 'public'"
    _ = try ask(server, "TRUNCATE \(ask(server, "\(names) AND tablename <> 'cluster'"))")
    let holder = try hold(table, "SHARE", on: server)
    let move = try begin("regentd", ["move", "--to", url])
    try awaitWait("Lock", on: server)
    try move.cut()
    try letGo(holder, on: server)
  }

  /// Makes COMMIT wait for a standby that never comes, or with an empty name no longer.
  func setStandby(_ name: String, on server: PostgreSQLServer) throws {
    _ = try ask(server, "ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
    _ = try ask(server, "SELECT pg_reload_conf()")
    try eventually("the server to read it") { try ask(server, "SHOW synchronous_standby_names") == name }
  }
}

extension RunningProgram {
  /// Kills the program, like a power cut.
  func cut() throws {
    signal(SIGKILL)
    _ = try wait()
  }
}

/// `regentd move`, as an operator uses it.
@Suite struct `Moving a database to a server and back` {
  /// Runs `story` with a server that has an empty database.
  private func withServer(_ story: (Operator, PostgreSQLServer, _ url: String) throws -> Void) throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { try story(Operator(folder: $0), server, server.socketURL) }
  }

  @Test func `a move of the database to a server keeps every sign-in and every code`() throws {
    try withServer { shell, server, url in
      var waiting = ""
      try withService(in: shell.folder) { service in
        try shell.provisionSample()
        let box = try ShellBox(shell, service, key: "key")
        try shell.approve(box.code(device: "box-1"))
        #expect(try box.signIn(device: "box-1").status == 200)
        waiting = try box.code(device: "box-2")
        #expect(try shell.refusal("regentd move --to '\(url)'").contains("the service is running"))
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      #expect(try shell.refusal("regentd move --to '\(url)' --from '\(url)'").contains("--from"))
      let moved = try shell.get("regentd move --to '\(url)'")
      #expect(moved.contains("tables are on the server, all verified"), "\(moved)")
      #expect(moved.contains("\nstart the service with --database"), "\(moved)")
      // The file is no longer a database of any service, and says where the data went.
      for command in ["serve --listen 127.0.0.1:0", "check", "move --to '\(url)'"] {
        #expect(try shell.refusal("regentd \(command)").contains("was moved to \(url)"), "\(command)")
      }
      try withService("--database", url, in: shell.folder) { service in
        let box = try ShellBox(shell, service, key: "key")
        #expect(try box.signIn(device: "box-1").status == 200)
        try shell.approve(waiting)
        #expect(try box.signIn(device: "box-2").status == 200)
        waiting = try box.code(device: "box-3")
        // Checking or copying is allowed while the service runs; moving the data away is refused.
        let looked = try shell.get("regentd check --database '\(url)'")
        #expect(looked.hasSuffix("rows: all signatures are valid\naudit: the log is complete"), "\(looked)")
        #expect(try shell.get("regentd backup copy.db --database '\(url)'").contains("verified"))
        #expect(try shell.refusal("regentd move --from '\(url)'").contains("another service uses this database"))
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      let back = try shell.get("regentd move --from '\(url)'")
      #expect(back.contains("regent.db, all verified"), "\(back)")
      let closed = try shell.refusal("regentd serve --listen 127.0.0.1:0 --database '\(url)'")
      #expect(
        closed.contains("the database is closed to all services (it is moved to a file, \(shell.state)/regent.db on "),
        "\(closed)")
      #expect(closed.contains("hint: start the service there"), "\(closed)")
      #expect(try shell.refusal("regentd move --from '\(url)'").contains("already"))
      try withService(in: shell.folder) { service in
        let box = try ShellBox(shell, service, key: "key")
        for device in ["box-1", "box-2"] { #expect(try box.signIn(device: device).status == 200) }
        try shell.approve(waiting)
        #expect(try box.signIn(device: "box-3").status == 200)
        let lines = try shell.get("regentctl audit tail")
        #expect(
          lines.contains("from a file to a database server (") && lines.contains("from a database server to a file ("),
          "\(lines)")
        #expect(lines.contains("backup.make"), "\(lines)")
        let doctor = try shell.get("regentctl doctor")
        #expect(
          doctor.contains("all signatures are valid") && doctor.contains("the audit log is complete"), "\(doctor)")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      #expect(try shell.get("ls \(shell.state)").contains("regent.db.before-"))
      #expect(try shell.type("ls \(shell.state)/*.mov*").status != 0)
    }
  }

  @Test func `a move of the database back to a file keeps used nonces, key uses and statistics`() throws {
    try withServer { shell, _, url in
      try shell.makeBackup()
      try shell.get("regentd move --to '\(url)'")
      // Signed two minutes ahead, so that the call is still in its window after the restart.
      func call(_ service: RegentdProcess) throws -> String {
        try shell.get("curl -s -o /dev/null -w '%{http_code}' -H \"$(cat header)\" \(service.url)/api/v1/config/acme")
      }
      try withService("--database", url, in: shell.folder) { service in
        try shell.get("regentctl key issue acme --json > key")
        _ = try ShellBox(shell, service, key: "key").code(device: "box-1")
        try shell.get(
          """
          field() { grep -o "\\"$1\\":\\"[^\\"]*\\"" key | cut -d '"' -f 4; }; \
          T="GET requestor_id=acme, nonce=once, signature_method=HMAC-SHA256, \
          request_time=$(($(date +%s%3N) + 120000)), request_uri=/api/v1/config/acme"; \
          S=$(printf %s "$T" | openssl dgst -sha256 -hmac "$(field secret)" -binary | openssl base64 -A); \
          printf %s "Authorization: $T, public_key=$(field publicKey), signature=$S" > header
          """)
        #expect(try call(service) == "200")
        #expect(try call(service) == "401")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try shell.get("regentd move --from '\(url)'")
      try withService(in: shell.folder) { service in
        let again = try call(service)
        #expect(again == "401", "used at a node, so not here")
        let keys = try shell.get("regentctl key list acme --json")
        #expect(keys.contains(#""lastUsed":"#), "\(keys)")
        let stats = try shell.get("regentctl stats --json")
        #expect(stats.contains(#""started":1,"#), "\(stats)")
      }
    }
  }

  @Test func `statistics of the day are counted once after the database moved to a server, back and again`() throws {
    try withServer { shell, server, url in
      /// Runs the service while so many boxes ask for codes, and returns its count of the day.
      func counted(_ options: [String], boxes: Int) throws -> String {
        let service = try RegentdProcess(
          try builtProgram("regentd"), in: shell.folder, options, environment: ["HOME": shell.folder])
        if try shell.type("test -e key").status != 0 {
          try shell.get("regentctl requestor add acme && regentctl key issue acme --json > key")
        }
        let box = try ShellBox(shell, service, key: "key")
        for _ in 0..<boxes { _ = try box.code(device: "box-\(UInt32.random(in: 0 ... .max))") }
        let said = try shell.get("regentctl stats --json | grep -o '\"started\":[0-9]*' | head -n 1")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
        return said
      }
      func node(_ name: String, on url: String) -> [String] { ["--database", url, "--node", name] }
      _ = try shell.ask(server, "CREATE DATABASE other")
      let other = url.hasSuffix("/regent") ? "\(url.dropLast("regent".count))other" : ""
      #expect(try counted([], boxes: 2) == #""started":2"#)
      try shell.get("regentd move --to '\(url)'")
      #expect(try counted(node("a", on: url), boxes: 1) == #""started":3"#)
      #expect(try counted(node("b", on: url), boxes: 1) == #""started":4"#)
      #expect(try counted(node("c", on: url), boxes: 0) == #""started":4"#)
      try shell.get("regentd move --from '\(url)'")
      #expect(try counted([], boxes: 1) == #""started":5"#)
      try shell.get("regentd move --to '\(other)'")
      #expect(try counted(node("a", on: other), boxes: 1) == #""started":6"#)
      #expect(try counted(node("d", on: other), boxes: 0) == #""started":6"#)
    }
  }

  @Test func `a move to a server that is killed leaves the file as it was, or everything on the server`() throws {
    try withServer { shell, server, url in
      try shell.makeBackup()
      let hash = "sha256sum \(shell.state)/regent.db"
      let before = try shell.get(hash)
      // In the middle: the audit log is one of the last tables.
      try shell.cutMove(at: "audit", on: server)
      #expect(try shell.get(hash) == before)
      #expect(try shell.type("test -e \(shell.state)/regent.db.moving").status != 0)
      #expect(try shell.ask(server, "SELECT (SELECT count(*) FROM data_key) + (SELECT count(*) FROM audit)") == "0")
      try withService(in: shell.folder) { service in
        try shell.get("regentctl requestor show acme")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      // At the very end: the server has committed, but the move was not told.
      try shell.setStandby("away", on: server)
      let second = try shell.begin("regentd", ["move", "--to", url])
      try shell.awaitWait("SyncRep", on: server)
      try second.cut()
      let refused = try shell.refusal("regentd serve --listen 127.0.0.1:0")
      #expect(refused.contains("was interrupted: the current rows are in the file or on that server"), "\(refused)")
      #expect(refused.contains("hint: finish it: regentd move --to"), "\(refused)")
      #expect(try shell.refusal("regentctl restore copy.db --yes").contains("was interrupted"))
      try shell.setStandby("", on: server)
      let elsewhere = try shell.refusal("regentd move --to postgresql://regent@127.0.0.1:1/other")
      #expect(elsewhere.contains("to or from \(url) was interrupted"), "\(elsewhere)")
      let finished = try shell.get("regentd move --to '\(url)'")
      #expect(finished.contains("the interrupted move had already copied everything to the server"), "\(finished)")
      try withService("--database", url, in: shell.folder) { _ in try shell.get("regentctl requestor show acme") }
    }
  }

  @Test func `a move back that is killed leaves the server as it was, or everything in the file`() throws {
    try withServer { shell, server, url in
      try shell.makeBackup()
      try shell.get("regentd move --to '\(url)'")
      let holder = try shell.hold("audit", "ACCESS EXCLUSIVE", on: server)
      let first = try shell.begin("regentd", ["move", "--from", url])
      try shell.awaitWait("Lock", on: server)
      try first.cut()
      try shell.letGo(holder, on: server)
      #expect(try shell.type("ls \(shell.state)/regent.db").status != 0)
      try withService("--database", url, in: shell.folder) { service in
        try shell.get("regentctl requestor add later")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try shell.setStandby("away", on: server)
      let second = try shell.begin("regentd", ["move", "--from", url])
      try shell.awaitWait("SyncRep", on: server)
      try second.cut()
      #expect(try shell.refusal("regentd serve --listen 127.0.0.1:0").contains("was interrupted"))
      try shell.setStandby("", on: server)
      let finished = try shell.get("regentd move --from '\(url)'")
      #expect(finished.contains("the interrupted move had already copied everything to the file"), "\(finished)")
      try withService(in: shell.folder) { _ in try shell.get("regentctl requestor show later") }
      #expect(try shell.ask(server, "SELECT state FROM cluster").hasPrefix("moved to a file"))
    }
  }

  @Test func `a move of the database keeps the data of version 0.1.0`() throws {
    try withServer { shell, server, url in
      let fixture = "\(packageFolder())/Tests/fixtures/0.1.0"
      try shell.get("mkdir -p -m 700 .local .local/state .local/state/regent")
      try shell.get(
        "cp \(fixture)/master-key \(fixture)/regent.db \(shell.state)/ && chmod 600 \(shell.state)/* && "
          + "tr -d ' \\n' < \(fixture)/facts.json > facts")
      try shell.get("regentd move --to '\(url)'")
      try isAsItWas(shell, "--database", url)
      try shell.get("regentd move --from '\(url)'")
      try isAsItWas(shell)
      // A backup of version 0.1.0, which has no seal.
      _ = try shell.ask(server, "CREATE DATABASE second")
      let second = String(url.dropLast(6)) + "second"
      let restored = try shell.get("regentd restore \(fixture)/backup.db --database '\(second)'")
      #expect(restored.contains("version 0.1.0 made this backup"), "\(restored)")
      try isAsItWas(shell, "--database", second)
    }
  }

  private func isAsItWas(_ shell: Operator, _ options: String...) throws {
    try withServiceOf(options, in: shell.folder) { service in
      let box = try ShellBox(shell, service, key: "facts")
      try shell.get("sed -i s/acme/cinema/ call")
      let devices = try shell.get("grep -o '\"[0-9a-f]\\{32\\}\":' facts | tr -d '\":'").split(separator: "\n").map(
        String.init)
      #expect(devices.count == 3)
      for device in devices {
        let answer = try box.signIn(device: device)
        #expect(answer.status == 200, "\(options): \(answer)")
      }
      let doctor = try shell.get("regentctl doctor || true")
      #expect(doctor.contains("all signatures are valid") && doctor.contains("the audit log is complete"), "\(doctor)")
      service.program.signal(15)
      #expect(try service.program.wait() == 0)
    }
  }

  private func withServiceOf(_ options: [String], in folder: String, _ body: (RegentdProcess) throws -> Void) throws {
    guard options.count == 2 else { return try withService(in: folder, body) }
    try withService(options[0], options[1], in: folder, body)
  }
}
