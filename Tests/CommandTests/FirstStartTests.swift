import PostgreSQLTestSupport
import TestSupport
import Testing

/// The traces of a first start that fails, and several first starts at once.
@Suite struct `The first start of a service` {
  private func keys(_ shell: Operator) throws -> String {
    try shell.get("ls \(shell.state) | grep -v lock | grep key || true")
  }

  private func refused(_ shell: Operator, _ database: String) throws -> String {
    try shell.refusal("regentd serve --listen 127.0.0.1:0 --database '\(database)'")
  }

  @Test func `a first start that fails on a server leaves no key, and makes none for another service's database`()
    throws
  {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let poor = server.socketURL.replacing("regent@", with: "poor@")
      let others = "copy the key file of another node there"
      _ = try shell.ask(server, "CREATE ROLE poor LOGIN")
      let first = try refused(shell, poor)
      #expect(first.contains("GRANT USAGE, CREATE ON SCHEMA public TO poor"), "\(first)")
      #expect(try keys(shell) == "")
      // The database belongs to another service, so that its key is needed. A new key would be useless.
      try shell.get("mkdir -m 700 other")
      try withService("--database", server.socketURL, in: "\(folder)/other") { _ in }
      let foreign = try refused(shell, server.socketURL)
      #expect(foreign.contains(others), "\(foreign)")
      // The same holds when the role cannot see the existing tables.
      _ = try shell.ask(server, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
      let unseen = try refused(shell, poor)
      #expect(unseen.contains(others), "\(unseen)")
      #expect(try keys(shell) == "")
      // An existing key stays, whatever fails.
      try shell.get("cp -p other/.local/state/regent/master-key \(shell.state)/")
      let poorer = try refused(shell, poor)
      #expect(poorer.contains("GRANT USAGE ON SCHEMA public TO poor"), "\(poorer)")
      try shell.get("cmp other/.local/state/regent/master-key \(shell.state)/master-key")
    }
  }

  @Test func `a first start that fails with a file leaves no key, and keeps an existing one`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      // A folder in which not even root can create files.
      let first = try refused(shell, "/proc/regent.db")
      #expect(first.contains("/proc has mode"), "\(first)")
      #expect(try keys(shell) == "")
      try withService(in: folder) { service in service.program.signal(15) }
      try shell.get("cp -p \(shell.state)/master-key kept")
      _ = try refused(shell, "/proc/regent.db")
      try shell.get("cmp kept \(shell.state)/master-key")
    }
  }

  @Test func `several first starts at once make one key, which all of them use`() throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      for round in 1...3 {
        _ = try shell.ask(server, "CREATE DATABASE round\(round)")
        let database = "\(server.socketURL.dropLast("regent".count))round\(round)"
        let said = try shell.get(
          """
          mkdir -m 700 round && cd round && pids=
          for node in a b c; do
            mkdir -m 700 $node
            HOME=$PWD/$node regentd serve --listen 127.0.0.1:0 --database '\(database)' --node $node \
              --master-key $PWD/key > $node.out 2>&1 &
            pids="$pids $!"
          done
          for try in $(seq 300); do
            [ $(cat *.out | grep -c 'regentd: listening') = 3 ] && break; kill -0 $pids 2> gone || break; sleep 0.1
          done
          kill $pids 2> gone; wait; cat *.out; cd .. && rm -r round
          """)
        #expect(said.split(separator: "regentd: listening").count == 4, "\(said)")
      }
    }
  }
}
