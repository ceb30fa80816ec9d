import Glibc
import TestSupport
import Testing

@Suite struct `Backup and restore` {
  @Test func `a backup restores the earlier state, and a damaged one is refused`() throws {
    try withTemporaryFolder { folder in
      func regentctl(_ words: String...) throws -> (status: Int32, text: String) {
        let finished = try run(
          "sh", ["-c", "cd \"$HOME\" && exec regentctl \"$@\"", "sh"] + words,
          environment: ["HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin"])
        return (finished.status, finished.outputText + finished.errorText)
      }
      try withService(in: folder) { service in
        #expect(try regentctl("requestor", "add", "before").status == 0)
        #expect(try regentctl("backup", "copy.db").status == 0)
        #expect(try regentctl("requestor", "add", "after").status == 0)
        let refused = try regentctl("restore", "copy.db", "--yes")
        #expect(refused.status == 1)
        #expect(refused.text.contains("the service is running"))
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      let whole = try readFile("\(folder)/copy.db")
      // Also in the database's empty pages, and in the last line with its hash and line end.
      let inside = Array(stride(from: 0, to: whole.count - 100, by: whole.count / 7))
      for place in inside + [whole.count - 40, whole.count - 2, whole.count - 1] {
        var damaged = whole
        damaged[place] ^= 1
        try writeFile("\(folder)/bad.db", damaged)
        let refused = try regentctl("restore", "bad.db", "--yes")
        #expect(refused.status == 1, "a flipped bit at \(place)")
        #expect(refused.text.contains("bad.db is damaged: its content has changed"))
        #expect(refused.text.contains("hint: use an older backup"))
      }
      try writeFile("\(folder)/bad.db", Array(whole.dropLast(4096)))
      let cut = try regentctl("restore", "bad.db", "--yes")
      #expect(cut.status == 1)
      #expect(cut.text.contains("is not a complete backup: its last line is missing"))

      let restored = try regentctl("restore", "copy.db", "--yes")
      #expect(restored.status == 0, "\(restored.text)")
      #expect(
        restored.text.contains("\ntoday's numbers are those of the backup, taken at 20"))
      try withService(in: folder) { _ in
        let list = try regentctl("requestor", "list").text
        #expect(list.contains("before") && !list.contains("after"))
        #expect(try regentctl("audit", "tail").text.contains("backup.restore database"))
        let doctor = try regentctl("doctor").text
        #expect(doctor.contains("all signatures are valid"))
        // A backup cannot contain its own time, but doctor knows it all the same.
        #expect(doctor.contains("backup: the last backup was made at 20"), "\(doctor)")
      }
    }
  }

  @Test func `a backup forged without the key is refused, also when its seal is removed`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      // The attacker can make valid rows and a valid hash, and can copy the seal of the original backup.
      let forge = """
        import hashlib, sqlite3, sys
        whole = open('copy.db', 'rb').read()
        start = whole.rindex(b'\\nregent-backup-2 ')
        open('forged.db', 'wb').write(whole[:start])
        database = sqlite3.connect('forged.db')
        database.execute("DELETE FROM key_pair")
        database.execute("PRAGMA user_version")
        database.commit()
        database.close()
        body = open('forged.db', 'rb').read()
        digest = hashlib.sha256(body).hexdigest().encode()
        seal = whole[start:].split()[2]
        open('forged.db', 'wb').write(body + b'\\nregent-backup-2 ' + digest + b' ' + seal + b'\\n')
        open('bare.db', 'wb').write(body + b'\\nregent-backup-1 ' + digest + b'\\n')
        """
      try writeFile("\(folder)/forge.py", forge.utf8)
      try shell.get("python3 forge.py")
      let forged = try shell.refusal("regentctl restore forged.db --yes")
      #expect(forged.contains("or another service signed it"), "\(forged)")
      let bare = try shell.refusal("regentctl restore bare.db --yes")
      #expect(bare.contains("bare.db was changed: the signature at its end (the seal) was removed"), "\(bare)")
      #expect(try shell.get("regentctl restore copy.db --yes").contains("is restored from copy.db"))
    }
  }

  @Test func `a backup of version 0.1.0 is restored with a note that it has no seal`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let old = "\(packageFolder())/Tests/fixtures/0.1.0"
      try shell.get("mkdir -m 700 data && install -m 600 \(old)/backup.db \(old)/master-key .")
      let said = try shell.get("regentd restore backup.db --database data/regent.db --master-key master-key")
      #expect(said.contains("version 0.1.0 made this backup without a signature"), "\(said)")
      #expect(!said.contains("gaps"), "\(said)")
      // Where newer versions have sealed the backups, a missing seal may have been removed.
      let again = try shell.refusal("regentd restore backup.db --database data/regent.db --master-key master-key --yes")
      #expect(again.contains("backup.db has no signature at its end (seal)"), "\(again)")
      try shell.get("mv data/regent.db data/regent.db.old")
      try shell.get("regentd restore backup.db --database data/regent.db --master-key master-key")
    }
  }

  @Test func `restore replaces a database only with --yes, which a variable cannot set, in either program`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      for program in ["regentd", "regentctl"] {
        let refused = try shell.refusal("REGENT_YES=true \(program) restore copy.db")
        #expect(refused.contains("this would replace the database with copy.db"), "\(refused)")
        #expect(refused.contains("hint: add --yes to confirm"), "\(refused)")
        #expect(try shell.get("\(program) restore copy.db --yes").contains("regent.db is restored from copy.db"))
      }
      // Without an existing database no confirmation is needed.
      try shell.get("rm -r \(shell.state)/regent.db*")
      #expect(try shell.get("regentctl restore copy.db").contains("regent.db is restored from copy.db"))
    }
  }

  @Test func `a backup contains the statistics and key uses of the moment when it was made`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme && regentctl key issue acme --json > key.json")
        let box = try ShellBox(shell, service, key: "key.json")
        for device in 1...3 { _ = try box.code(device: "box-\(device)") }
        try shell.get("regentctl backup copy.db")
        _ = try box.code(device: "box-4")
        service.program.signal(SIGTERM)
        #expect(try service.program.wait() == 0)
      }
      try shell.get("regentctl restore copy.db --yes")
      try withService(in: folder) { _ in
        let stats = try shell.get("regentctl stats --json")
        #expect(stats.contains(#""started":3,"#), "\(stats)")
        // The backup also contains when the key was used.
        let keys = try shell.get("regentctl key list acme --json")
        #expect(keys.contains(#""lastUsed":"#), "\(keys)")
      }
    }
  }

  @Test func `a backup can be restored only with the master key of its time`() throws {
    try withTemporaryFolder { folder in
      func expect(_ status: Int32, _ command: String) throws {
        let finished = try run(
          "sh", ["-c", "cd \"$HOME\" && \(command)"],
          environment: ["HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin"])
        #expect(finished.status == status, "\(command): \(finished.errorText)")
      }
      let state = "\(folder)/.local/state/regent"
      try withService(in: folder) { service in
        try expect(0, "regentctl requestor add acme && regentctl backup copy.db")
        try expect(0, "cp -p \(state)/master-key old && regentctl master-key change --yes")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try expect(1, "regentctl restore copy.db --yes 2> said")
      try expect(0, "grep -q 'copy.db was made with another master key than .*/master-key' said")
      try expect(0, "grep -q 'hint: add --master-key FILE with the key of that time' said")
      // The new master key still opens the existing database.
      try withService(in: folder) { _ in try expect(0, "regentctl requestor show acme") }
      // The old master key was kept for this purpose.
      try expect(0, "cmp old \(state)/master-key.until-*Z && chmod 600 \(state)/master-key")
      try expect(0, "mv \(state)/master-key.until-*Z \(state)/master-key")
      try expect(0, "regentctl restore copy.db --yes")
      try withService(in: folder) { _ in try expect(0, "regentctl requestor show acme") }
    }
  }

  @Test func `the service completes a change of the master key that was interrupted`() throws {
    try withTemporaryFolder { folder in
      func expect(_ status: Int32, _ command: String) throws {
        let finished = try run(
          "sh", ["-c", "cd \"$HOME\" && \(command)"],
          environment: ["HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin"])
        #expect(finished.status == status, "\(command): \(finished.errorText)")
      }
      let key = "\(folder)/.local/state/regent/master-key"
      try withService(in: folder) { _ in try expect(0, "regentctl requestor add acme") }
      // As if killed before the database was sealed with the new key.
      try writeFile("\(key).next", Array(String(repeating: "ab", count: 32).utf8))
      try expect(0, "chmod 600 \(key).next")
      try withService(in: folder) { service in
        try expect(0, "regentctl requestor show acme && test ! -e \(key).next")
        try expect(0, "cp -p \(key) old && regentctl master-key change --yes")
      }
      // As if killed after that, before the new key file was renamed.
      try expect(0, "mv \(key) \(key).next && mv old \(key)")
      try withService(in: folder) { _ in
        try expect(0, "regentctl requestor show acme && test ! -e \(key).next")
      }
    }
  }

  @Test func `an unsealed old backup with changed rows is refused although its hash fits`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let old = "\(packageFolder())/Tests/fixtures/0.1.0"
      try shell.get(
        "mkdir -m 700 data && install -m 600 \(old)/master-key . && install -m 600 \(old)/backup.db copy.db")
      let restore = "regentd restore --database data/regent.db --master-key master-key"
      // Without its last line a backup is an ordinary database.
      let line = "\nregent-backup-1 ".utf8.count + 64 + 1
      try writeFile("\(folder)/changed.db", Array(try readFile("\(folder)/copy.db").dropLast(line)))
      let change = "UPDATE requestor SET name = 'Evil'"
      try shell.get("sqlite3 changed.db \"PRAGMA journal_mode = delete; \(change)\"")
      try shell.get(
        "printf '\\nregent-backup-1 %.64s\\n' \"$(sha256sum < changed.db)\" > line && cat line >> changed.db"
      )
      let refused = try shell.refusal("\(restore) changed.db")
      #expect(refused.contains("changed.db was changed: 1 row has an invalid signature"))
      #expect(refused.contains("hint: use an older backup"))
      try shell.get("\(restore) copy.db")
    }
  }

  @Test func `a second backup at the same time is refused`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      try shell.get("regentctl requestor add acme")
      try eventually("two at the same time", within: 60) { () throws -> Bool? in
        let said = try shell.get(
          "for i in 1 2 3 4 5 6; do (regentctl backup copy-$i.db 2>&1; rm -f copy-$i.db) & done; wait"
        )
        guard said.contains("regentctl: another backup is being made, or the master key is being changed")
        else { return nil }
        #expect(said.contains("hint: "))
        return true
      }
      try shell.get("regentctl backup last.db")
    }
  }

  @Test func `an interrupted backup leaves no files on disk`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let copies = "\(shell.state)/regent.db.backup"
      // The files of a service that was killed while it copied, and while it checked the copy.
      let rests = [
        "copy.db", "copy.db.partial", "copy.db.partial-journal", "copy.db-wal", "copy.db-shm",
        "copy.db.lock",
      ]
      try withService(in: folder) { _ in try shell.get("regentctl requestor add acme") }
      try shell.get("mkdir -m 700 \(copies)")
      for rest in rests { try writeFile("\(copies)/\(rest)", Array("rest".utf8)) }
      try withService(in: folder) { service in
        #expect(try shell.get("ls \(copies)") == "")
        // The client was killed while it fetched the backup; the next one replaces its partial file.
        try shell.get("printf part > .copy.db.partial && chmod 600 .copy.db.partial")
        for rest in rests { try writeFile("\(copies)/\(rest)", Array("rest".utf8)) }
        try shell.get("regentctl backup copy.db")
        #expect(try shell.get("ls \(copies)") == "")
        #expect(try shell.get("ls -A | grep -c partial; true") == "0")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try shell.get("regentctl restore copy.db --yes")
    }
  }

  @Test func `a restore that crashes after its decision is completed by the next start`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let database = "\(shell.state)/regent.db"
      try withService(in: folder) { _ in
        try shell.get("regentctl requestor add before && regentctl backup copy.db")
        try shell.get("regentctl requestor add after")
      }
      // The service was killed, so that its last changes are in the log beside the database.
      #expect(try shell.type("test -s \(database)-wal").status == 0)
      try shell.get("cp -a .local/state/regent killed && regentctl restore copy.db --yes")
      // The state on disk between the decision and the exchange of the files.
      try shell.get(
        "cp \(database) decided && rm -r .local/state/regent && mv killed .local/state/regent")
      try shell.get("mv decided \(database).restored && chmod 600 \(database).restored")
      let checked = try shell.get("regentd check")
      #expect(checked.contains("all signatures are valid"))
      #expect(try shell.type("test -e \(database).restored").status == 0)
      try withService(in: folder) { _ in
        let list = try shell.get("regentctl requestor list")
        #expect(list.contains("before") && !list.contains("after"))
        #expect(try shell.type("test -e \(database).restored").status == 1)
      }
    }
  }

  @Test func `restore keeps the old database complete, including changes that were only in its log`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        try shell.get("regentctl requestor add before && regentctl backup copy.db")
        try shell.get("regentctl requestor add after")
      }
      try shell.get("regentctl restore copy.db --yes")
      // Puts the kept files back under their first names.
      try shell.get(
        "cd .local/state/regent && rm -f regent.db regent.db-wal regent.db-shm && K=$(ls regent.db.before-*Z) && "
          + "mv \"$K\" regent.db && mv \"$K-wal\" regent.db-wal")
      try withService(in: folder) { _ in
        let list = try shell.get("regentctl requestor list")
        #expect(list.contains("after"))
      }
    }
  }

  @Test func `restore is refused while an interrupted change of the master key is unresolved`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      try shell.get("cp -p \(shell.state)/master-key \(shell.state)/master-key.next")
      let refused = try shell.refusal("regentctl restore copy.db --yes")
      #expect(refused.contains("a change of the master key was interrupted"))
      #expect(refused.contains("hint: run systemctl start regentd, then systemctl stop regentd"))
      // `regentd check` does not resolve it.
      try shell.get("regentd check && test -e \(shell.state)/master-key.next")
      try withService(in: folder) { service in
        service.program.signal(15)
        _ = try service.program.wait()
      }
      try shell.get("regentctl restore copy.db --yes")
    }
  }
}
