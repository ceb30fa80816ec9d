import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

/// Several `regentd` on one PostgreSQL server, as behind a load balancer.
@Suite struct `Several nodes on one database` {
  /// Runs nodes with these names and one master key, on a server of their own.
  private func withNodes(
    _ names: [String], _ body: (Operator, [RegentdProcess], _ database: String) throws -> Void
  ) throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      func run(_ left: ArraySlice<String>, _ running: [RegentdProcess]) throws {
        guard let name = left.first else { return try body(Operator(folder: folder), running, server.socketURL) }
        let own = name == names.first ? folder : "\(folder)/\(name)"
        try Operator(folder: folder).get("mkdir -p -m 700 \(own)")
        try withService(
          "--database", server.socketURL, "--node", name, "--master-key", "\(folder)/master-key", in: own
        ) { service in try run(left.dropFirst(), running + [service]) }
      }
      try run(names[...], [])
    }
  }

  @Test func `several nodes are one service for a box and its phone, also after one is killed`() throws {
    try withNodes(["a", "b"]) { shell, nodes, database in
      let socket = "\(shell.folder)/b/.local/state/regent/admin.sock"
      try shell.get(
        """
        regentctl requestor add acme && regentctl key issue acme --json > key && regentctl provider add cable \
        --name Cable --kind local && regentctl integrate acme cable && \
        echo correct-horse-battery | regentctl account add cable anna && regentctl entitle add cable --allow 'news*'
        """)
      let (atA, atB) = (
        try ShellBox(shell, nodes[0], key: "key"), try ShellBox(shell, nodes[1], key: "key")
      )
      // B learns of the key after a moment.
      try eventually("B to know the app") { try atB.call("GET", "/api/v1/config/acme").status == 200 ? true : nil }

      // A code made at A, awaited at A and approved at B.
      let code = try atA.code(device: "box-1")
      let held = try shell.get(
        """
        (SERVICE=\(nodes[0].url) KEY=key bash ./call GET '/api/v1/tokens/authn.json?deviceId=box-1' \
        -H 'Prefer: wait=55' > held & echo $! > pid; sleep 1; \
        regentctl --socket \(socket) code approve \(code) --provider cable --account anna; wait; tail -n 1 held)
        """)
      #expect(held.hasSuffix("200"), "\(held)")

      // A code withdrawn at B and replaced at A: the first is unknown from then on.
      let denied = try atB.code(device: "box-2")
      try shell.get("regentctl --socket \(socket) code withdraw \(denied)")
      let next = try atA.code(device: "box-2")
      #expect(try atB.signIn(device: "box-2").status == 404)
      try shell.get("regentctl code approve \(next) --provider cable --account anna")
      #expect(try atB.signIn(device: "box-2").status == 200)

      // One signed header is sent to two nodes.
      try shell.sign("once", ahead: 0)
      let twice = try shell.show("once", to: [nodes[0], nodes[0], nodes[1]])
      #expect(twice == "200 401 401 ", "used at A, so not at B: \(twice)")

      // A is killed. B has its data, and its name is free at once.
      let last = try atA.code(device: "box-3")
      nodes[0].program.signal(SIGKILL)
      _ = try nodes[0].program.wait()
      #expect(try atB.signIn(device: "box-1").status == 200)
      #expect(try atB.signIn(device: "box-3").status == 404)
      try shell.get("regentctl --socket \(socket) code approve \(last) --provider cable --account anna")
      #expect(try atB.signIn(device: "box-3").status == 200)
      let key = "\(shell.folder)/master-key"
      try shell.sign("ahead", ahead: 200)
      #expect(try shell.show("ahead", to: [nodes[1]]) == "200 ")
      try withService("--database", database, "--node", "a", "--master-key", key, in: shell.folder) { service in
        #expect(try shell.show("ahead", to: [service]) == "401 ", "it was used before A was there")
        let again = try ShellBox(shell, service, key: "key")
        #expect(try again.signIn(device: "box-3").status == 200)
        // A node without the others' master key is refused with a hint.
        let keyless = try shell.refusal(
          "regentd serve --listen 127.0.0.1:0 --database '\(database)' --node d --master-key \(shell.folder)/no-key")
        #expect(keyless.contains("hint: copy the key file of another node there"), "\(keyless)")
        // Two nodes with one name would hide each other's changes, so that the second is refused.
        let refused = try shell.refusal(
          """
          regentd serve --listen 127.0.0.1:0 --database '\(database)' --node b --master-key \(key) \
          --admin-socket \(shell.folder)/c.sock
          """)
        #expect(refused.contains("another service that is called “b” uses this database"), "\(refused)")
        #expect(refused.contains("hint: give each its own name: regentd serve --node NAME"), "\(refused)")
        service.program.signal(SIGTERM)
        #expect(try service.program.wait() == 0)
      }
      nodes[1].program.signal(SIGTERM)
      #expect(try nodes[1].program.wait() == 0)
    }
  }

  @Test func `nodes are listed, and one can be drained before it is stopped`() throws {
    try withNodes(["a", "b"]) { shell, nodes, database in
      try shell.get("regentctl requestor add acme && regentctl key issue acme --json > key")
      let names = try shell.get("regentctl node list --json | grep -o '\"name\":\"[a-z]\"'")
      #expect(names == #""name":"a"\n"name":"b""#.replacing("\\n", with: "\n"), "\(names)")
      // Phones use the load balancer, so that no node's own address is the right public URL.
      let found = try shell.get("regentctl doctor || true")
      #expect(found.contains("fix: start every node with the load balancer's address"), "\(found)")
      let atB = try ShellBox(shell, nodes[1], key: "key")
      try eventually("B to know the app") { try atB.call("GET", "/api/v1/config/acme").status == 200 ? true : nil }
      _ = try atB.code(device: "box-1")
      // A long poll ends when another node is told to drain this one.
      let held = try shell.get(
        """
        (SERVICE=\(nodes[1].url) KEY=key bash ./call GET '/api/v1/tokens/authn.json?deviceId=box-1' \
        -H 'Prefer: wait=55' -D headers > held &); sleep 1; regentctl node drain b; \
        for try in $(seq 300); do [ -s held ] && break; sleep 0.1; done; tail -n 1 held
        """)
      #expect(held.hasSuffix("404") && held.contains("node b is draining"), "\(held)")
      #expect(try shell.get("cat headers").lowercased().contains("connection: close"))
      let ready = try shell.get("curl -s -w ' %{http_code}' \(nodes[1].url)/readyz")
      #expect(ready.contains("draining") && ready.hasSuffix("503"), "\(ready)")
      // A draining node holds no long polls, but still answers.
      #expect(
        try atB.call("GET", "/api/v1/tokens/authn.json?deviceId=box-1", curl: "-m 20 -H 'Prefer: wait=55'").status
          == 404)
      try shell.get("regentctl node drain b --off")
      try eventually("B to be ready again") {
        try shell.get("curl -s -o /dev/null -w '%{http_code}' \(nodes[1].url)/readyz") == "200" ? true : nil
      }
      let other = try shell.get("curl -s -o /dev/null -w '%{http_code}' \(nodes[0].url)/readyz")
      #expect(other == "200")
    }
  }

  @Test(arguments: [true, false])
  func `a node ends within five seconds, even when the database does not respond`(isFrozen: Bool) throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService("--database", server.socketURL, "--node", "a", in: folder) { service in
        try shell.get("regentctl requestor add acme && regentctl key issue acme --json > key")
        let box = try ShellBox(shell, service, key: "key")
        _ = try box.code(device: "box-1")
        let all = "$(cat /proc/\(try server.pid)/task/*/children)"
        if isFrozen {
          try shell.get("kill -STOP \(server.pid) \(all)")
        } else {
          for line in ["ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()"] {
            try shell.get("psql -q -h \(server.folder) -p \(server.port) -U regent -c \"\(line)\" postgres >psql")
          }
          try eventually("the server to read its settings") {
            let names = try shell.get(
              "psql -qAt -h \(server.folder) -p \(server.port) -U regent -c 'SHOW synchronous_standby_names' regent")
            return names.hasPrefix("away") ? true : nil
          }
        }
        // This request is being written when the end comes, and its outcome is unknown.
        try shell.get(
          "(SERVICE=\(service.url) KEY=key bash ./call POST '/reggie/v1/acme/regcode.json?deviceId=box-2' > hung &) ; sleep 1"
        )
        let began = ContinuousClock.now
        service.program.signal(SIGTERM)
        #expect(try service.program.wait() == 0)
        let took = ContinuousClock.now - began
        #expect(took < .milliseconds(5_500), "\(took)")
        let told = try shell.get("sleep 0.2; tail -n 1 hung")
        #expect(told.hasSuffix("503"), "\(told)")
        if isFrozen {
          try shell.get("kill -CONT \(server.pid) \(all)")
        } else {
          // The node's name was given back without waiting for a standby.
          let names = try shell.get(
            "psql -qAt -h \(server.folder) -p \(server.port) -U regent -c 'SELECT count(*) FROM node' regent")
          #expect(names.hasPrefix("0"), "\(names)")
        }
      }
    }
  }

  @Test func `an invalid node name and invalid wake-ups are refused`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let name = try shell.refusal("regentd serve --node 'a b'")
      #expect(name.contains("is not a valid node name"), "\(name)")
      let wakeups = try shell.refusal("regentd serve --wakeups poll")
      #expect(wakeups.contains("--wakeups works only with a database on a server"), "\(wakeups)")
    }
  }
}

extension Operator {
  /// Writes the Authorization header of a call that is signed so many seconds in the future.
  fileprivate func sign(_ name: String, ahead seconds: Int) throws {
    try get(
      """
      T="GET requestor_id=acme, nonce=\(name), signature_method=HMAC-SHA256, \
      request_time=$(($(date +%s%3N) + \(seconds)000)), request_uri=/api/v1/config/acme"; \
      K=$(grep -o '"publicKey":"[^"]*"' key | cut -d '"' -f 4); \
      S=$(printf %s "$T" | openssl dgst -sha256 -hmac "$(grep -o '"secret":"[^"]*"' key | cut -d '"' -f 4)" \
      -binary | openssl base64 -A); echo "Authorization: $T, public_key=$K, signature=$S" > \(name)
      """)
  }

  /// Sends a call with that header to each node in turn, and returns their statuses.
  fileprivate func show(_ name: String, to nodes: [RegentdProcess]) throws -> String {
    try get(
      """
      for at in \(nodes.map(\.url).joined(separator: " ")); do \
      curl -s -o /dev/null -w '%{http_code} ' -H @\(name) $at/api/v1/config/acme; sleep 0.5; done
      """)
  }
}
