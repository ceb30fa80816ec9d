import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

/// `regentd` with a PostgreSQL server, as an operator runs it.
@Suite struct `A service with a PostgreSQL database` {
  @Test func `a service keeps all its data on the server, over a restart and a lost connection`() throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let database = ["--database", server.socketURL]
      try withService(database[0], database[1], in: folder) { service in
        try shell.get(
          """
          regentctl requestor add acme && regentctl key issue acme --json > key && regentctl provider add cable \
          --name Cable --kind local && regentctl integrate acme cable && \
          echo correct-horse-battery | regentctl account add cable anna && regentctl entitle add cable --allow 'news*'
          """)
        let first = try ShellBox(shell, service, key: "key")
        let code = try first.code(device: "box-1")
        try shell.get("regentctl code approve \(code) --provider cable --account anna")
        #expect(try first.signIn(device: "box-1").status == 200)
        // No data is in a file, and a second service with the same node name is refused.
        let files = try shell.get("ls \(shell.state)")
        #expect(!files.contains("regent.db"), "\(files)")
        let second = try shell.refusal(
          "regentd serve --listen 127.0.0.1:0 --database '\(server.socketURL)' --admin-socket \(folder)/second.sock")
        #expect(second.contains("uses this database") && second.contains("hint: give each its own name"), "\(second)")
        let found = try shell.get("regentctl doctor || true")
        #expect(found.contains("PostgreSQL 1") && found.contains("all signatures are valid"), "\(found)")
        #expect(found.contains("there is no synchronous standby"), "\(found)")
        // The service makes a backup of the server's data as of a file, and it can be restored.
        #expect(try shell.get("regentctl backup copy.db").contains("verified"))
        #expect(try shell.get("regentctl doctor || true").contains("backup: the last backup was made at 20"))
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try withService(database[0], database[1], in: folder) { service in
        let again = try ShellBox(shell, service, key: "key")
        #expect(try again.signIn(device: "box-1").status == 200)
        #expect(try again.call("GET", "/api/v1/authorize.json?deviceId=box-1&resource=news").status == 200)
        #expect(try !again.mediaToken(device: "box-1", resource: "news").isEmpty)
        // When the server is gone, requests get 503 with Retry-After in time.
        kill(try server.pid, SIGQUIT)
        let ready = try eventually("readyz to say so") {
          let text = try shell.get("curl -s -o /dev/null -w '%{http_code}' \(service.url)/readyz")
          return text == "503" ? text : nil
        }
        #expect(ready == "503")
        let refused = try again.call(
          "POST", "/reggie/v1/acme/regcode.json?deviceId=box-2", curl: "-D headers")
        #expect(refused.status == 503, "\(refused)")
        #expect(try shell.get("cat headers").lowercased().contains("retry-after:"))
        #expect(try shell.get("curl -s \(service.url)/healthz").contains("ok"))
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
    }
  }

  @Test func `doctor and errors name the standby that changes wait for, or the lost server, with a hint`() throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let (shell, port) = (Operator(folder: folder), try freePort())
      func psql(_ line: String) throws {
        try shell.get("psql -q -h \(server.folder) -p \(server.port) -U regent -c \"\(line)\" postgres >psql")
      }
      func waits(for standby: String) throws {
        try psql("ALTER SYSTEM SET synchronous_standby_names = '\(standby)'")
        try psql("SELECT pg_reload_conf()")
      }
      try withService("--database", server.socketURL, "--metrics-listen", "127.0.0.1:\(port)", in: folder) { service in
        try shell.get("regentctl requestor add acme")
        let numbers = try shell.get("curl -s 127.0.0.1:\(port)/metrics")
        for name in ["commits_failed_total", "disk_full_total"] {
          #expect(numbers.contains("\nregent_\(name){node="), "\(name)")
        }
        #expect(numbers.contains("\nregent_commit_seconds_bucket{node="))

        try waits(for: "away")
        let said = try eventually("a change that waits") { () throws -> String? in
          let done = try shell.type("regentctl requestor add tv\(UInt32.random(in: 0 ... .max))")
          return done.status == 0 ? nil : done.errorText
        }
        #expect(said.contains("it waits for the standby") || said.contains("changes wait for the standby"), "\(said)")
        #expect(said.contains("hint: find the reason: regentctl doctor"), "\(said)")
        let ready = try shell.get("curl -s -m 3 -w ' %{http_code}' \(service.url)/readyz")
        #expect(ready.contains("changes wait for the standby") && ready.hasSuffix("503"), "\(ready)")
        let waiting = try shell.get("SECONDS=0; regentctl doctor || true; echo took $SECONDS")
        #expect(waiting.contains("changes wait for the synchronous standby"), "\(waiting)")
        #expect(waiting.contains("all signatures are valid") && !waiting.contains("pg_isready"), "\(waiting)")
        let took = waiting.split(separator: " ").last.flatMap { Int($0) } ?? 99
        #expect(took < 6, "\(waiting)")
        try waits(for: "")
        try eventually("changes to go through") {
          try shell.type("regentctl requestor add late").status == 0 ? true : nil
        }

        kill(try server.pid, SIGINT)
        try eventually("the server to end") { server.isReady ? nil : true }
        let doctor = try shell.get("regentctl doctor || true")
        #expect(doctor.contains("check that the server runs and admits this role: pg_isready, psql"), "\(doctor)")
        #expect(doctor.split(separator: "\(server.port)").count == 2, "named once: \(doctor)")
        let list = try shell.refusal("regentctl node list")
        #expect(list.contains("hint: find the reason: regentctl doctor"), "\(list)")
        try eventually("the alert's number") { () throws -> Bool? in
          let line = try shell.get("curl -s 127.0.0.1:\(port)/metrics | grep '^regent_database_away_seconds'")
          return (line.split(separator: " ").last.flatMap { Int($0) } ?? 0) > 2 ? true : nil
        }
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounting takes root"))
  func `doctor and readyz report that the server's disk is full until there is room`() throws {
    let server = try PostgreSQLServer()
    let disk = try SmallDisk(of: server)
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService("--database", server.socketURL, in: folder) { service in
        try shell.get("regentctl requestor add acme")
        try disk.fill()
        let full = try shell.get("regentctl doctor || true")
        #expect(full.contains("the database server's disk is full: the service can write nothing"), "\(full)")
        #expect(full.contains("all signatures are valid"), "\(full)")
        func ready() throws -> String { try shell.get("curl -s -w ' %{http_code}' \(service.url)/readyz") }
        let said = try eventually("readyz to say so", within: 60) { () throws -> String? in
          let text = try ready()
          return text.hasSuffix("503") ? text : nil
        }
        #expect(said.contains("the disk is full: nothing can be written"), "\(said)")
        try disk.makeRoom()
        try eventually("readyz to be well") { try ready().hasSuffix("200") ? true : nil }
        #expect(try !shell.get("regentctl doctor || true").contains("the database server's disk"))
      }
    }
  }

  @Test func `a password in the URL or the environment and a missing server are refused with a hint`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let secret = try shell.refusal("regentd serve --database postgresql://regent:geheim@127.0.0.1/regent")
      #expect(secret.contains("the database URL holds a password") && !secret.contains("geheim"), "\(secret)")
      let variable = try shell.refusal(
        "PGPASSWORD=geheim regentd serve --database postgresql://regent@127.0.0.1/regent")
      #expect(variable.contains("PGPASSWORD is set in the environment") && !variable.contains("geheim"), "\(variable)")
      let away = try shell.refusal("regentd serve --database postgresql://regent@127.0.0.1:\(freePort())/regent")
      #expect(away.contains("the database cannot be used") && away.contains("hint: see whether it runs"), "\(away)")
      let file = try shell.refusal("regentd serve --database-password-file secret")
      #expect(file.contains("--database-password-file works only with a database on a server"), "\(file)")
      for command in ["check", "restore backup.db"] {
        let away = try shell.refusal(
          "touch backup.db; regentd \(command) --database postgresql://127.0.0.1:\(freePort())/regent")
        #expect(away.contains("hint: "), "\(away)")
      }
    }
  }
}
