import Glibc
import TestSupport
import Testing

/// Operators interrupt commands, machines lose power, and two operators work at once.
@Suite struct `Interrupted and concurrent commands` {
  @Test func `an apply that was killed is completed by the next apply`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      let accounts = (1...300).map { #"{"provider":"cable","name":"viewer-\#($0)"}"# }
      let file =
        #"{"providers":[{"id":"cable","name":"Cable","kind":"local"}],"accounts":[\#(accounts.joined(separator: ","))]}"#
      try writeFile("\(service.folder)/all.json", file.utf8)
      let regentctl = try RunningProgram(
        try builtProgram("regentctl"), ["apply", "\(service.folder)/all.json"],
        environment: ["HOME": service.folder])
      // The first accounts exist, so that the apply is halfway.
      try eventually("the first accounts") {
        let list = try shell.type("regentctl account list cable")
        return list.outputText.split(separator: "\n").count > 3 ? true : nil
      }
      regentctl.signal(SIGKILL)
      _ = try regentctl.wait()
      try shell.get("regentctl apply all.json")
      #expect(
        try shell.get("regentctl apply all.json --prune") == "changed: 0, unchanged: 301")
    }
  }

  @Test func `an apply that stops says how many changes were made`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      // The file is valid except for something that only the service checks: the certificate has no key.
      try writeFile(
        "\(service.folder)/bad.json",
        #"{"requestors":[{"id":"a"},{"id":"b"},{"id":"c","certificate":"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},{"id":"d"}]}"#
          .utf8)
      let stopped = try shell.type("regentctl apply bad.json")
      #expect(stopped.status == 1)
      #expect(stopped.outputText == "+ requestor a\n+ requestor b\n")
      #expect(stopped.errorText.contains("requestor c: "))
      #expect(stopped.errorText.contains("(2 of 4 changes were made and are kept)"))
      #expect(stopped.errorText.contains("hint: "))
    }
  }

  /// apply changes each record separately, so that two files applied at once can leave a mixture.
  ///
  /// At least one operator must be told.
  @Test func `of two concurrent applies at least one reports a mixture`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      for who in ["left", "right"] {
        let requestors = (1...20).map { #"{"id":"r\#($0)","name":"\#(who) \#($0)"}"# }
        try writeFile(
          "\(service.folder)/\(who).json",
          #"{"requestors":[\#(requestors.joined(separator: ","))]}"#.utf8)
      }
      try shell.get("regentctl apply left.json")
      for _ in 0..<6 {
        try shell.get(
          "{ (regentctl apply left.json > left.out 2> left.err; echo $? > left.status) & "
            + "(regentctl apply right.json > right.out 2> right.err; echo $? > right.status) & wait; }"
        )
        let statuses = try shell.get("cat left.status right.status")
        #expect(!statuses.contains("2"))
        let rest = try ["left", "right"].map {
          try shell.get("regentctl apply \($0).json --dry-run --json")
        }
        let said = try shell.get("cat left.err right.err")
        if statuses == "0\n0" {
          #expect(rest.contains("[]"), "a mixture, which was not reported: \(rest)")
        } else {
          #expect(said.contains("hint: "))
          #expect(said.contains("at the same time") || said.contains("already exists"), "\(said)")
        }
      }
    }
  }

  /// Whatever command was running, the next start must find a database and a key that fit each other.
  @Test(arguments: [
    "master-key change --yes", "signing-key rotate", "backup copy.db", "key retire $ROWS",
    "apply all.json",
  ])
  func `a service that is killed during a command starts again`(command: String) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let accounts = (1...200).map { #"{"provider":"cable","name":"viewer-\#($0)"}"# }
      try writeFile(
        "\(folder)/all.json",
        #"{"requestors":[{"id":"acme"}],"providers":[{"id":"cable","kind":"local"}],"accounts":[\#(accounts.joined(separator: ","))]}"#
          .utf8)
      for delay in [0, 1, 4, 16] {
        try withService(in: folder) { service in
          try shell.get("regentctl requestor add acme")
          let rows = try shell.get(
            "regentctl key list acme | awk '$2 == \"rows\" && $3 == \"active\" { print $1 }'")
          let regentctl = try RunningProgram(
            "sh", ["-c", "cd \"$HOME\" && exec regentctl \(command)"],
            environment: [
              "HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin", "ROWS": rows,
            ])
          // Some are killed before the command arrives, some after its end, most in between.
          pass(milliseconds: delay)
          service.program.signal(SIGKILL)
          _ = try service.program.wait()
          // regentctl must not hang when the service dies.
          _ = try regentctl.wait(deadline: 60)
        }
        try withService(in: folder) { _ in
          let found = try shell.type("regentctl doctor").outputText
          #expect(!found.contains("BAD"), "\(found)")
          #expect(found.contains("all signatures are valid"))
          let left = try shell.get("ls .local/state/regent/regent.db.backup 2>/dev/null; true")
          #expect(left.isEmpty, "left by a copy that was cut short: \(left)")
          try shell.get("rm -f copy.db")
        }
      }
    }
  }

  @Test(.enabled(if: canMount(), "a small disk needs root and mount namespaces"))
  func `a backup that failed for lack of space is not counted by doctor`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      try shell.get("regentctl requestor add acme && mkdir small")
      let full = "mount -t tmpfs -o size=64k,mode=700 small small && regentctl backup small/copy.db"
      #expect(try shell.type("unshare -m sh -c '\(full)'").status == 1)
      #expect(try shell.type("regentctl doctor").outputText.contains("has never been backed up"))
      try shell.get("regentctl backup copy.db")
      #expect(try shell.type("regentctl doctor").outputText.contains("backup: the last backup was made"))
    }
  }

  /// A small file system in memory whose size limits what can be written.
  @Test(.enabled(if: canMount(), "a small disk needs root and mount namespaces"))
  func `a backup and a restore on a full disk change nothing`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme && regentctl backup good.db && mkdir small")
        let full =
          "mount -t tmpfs -o size=64k,mode=700 small small && "
          + "{ regentctl backup small/copy.db; S=$?; ls -A small; exit $S; }"
        let refused = try shell.type("unshare -m sh -c '\(full)'")
        #expect(refused.status == 1, "\(refused.errorText)")
        #expect(refused.outputText == "")
        #expect(refused.errorText.contains("No space left on device"))
        #expect(refused.errorText.contains("hint: "))
        #expect(try shell.get("ls .local/state/regent/regent.db.backup") == "")
        try shell.get("regentctl backup again.db")
        service.program.signal(SIGTERM)
        #expect(try service.program.wait() == 0)
      }
      try shell.get("cp -a .local/state/regent before && rm before/regent.db.lock")
      // The disk has room for the database, but not for a second one.
      let full =
        "mount -t tmpfs -o size=$(($(stat -c %s before/regent.db) / 1024 + 100))k,mode=700 small small && cp -a before/. small/ && "
        + "{ regentctl restore good.db --database small/regent.db --master-key small/master-key --yes; S=$?; "
        + "cmp small/regent.db before/regent.db && ls -A small; exit $S; }"
      let refused = try shell.type("unshare -m sh -c '\(full)'")
      #expect(refused.status == 1)
      #expect(refused.errorText.contains("No space left on device"), "\(refused.errorText)")
      let left = refused.outputText.split(separator: "\n").filter { !$0.hasSuffix(".lock") }
      #expect(Set(left).isSubset(of: ["regent.db", "regent.db.made", "master-key", "regent.db.backup"]), "\(left)")
      try withService(in: folder) { _ in try shell.get("regentctl requestor show acme") }
    }
  }
}

private func canMount() -> Bool {
  guard geteuid() == 0 else { return false }
  let tried = try? run("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
  return tried?.status == 0
}
