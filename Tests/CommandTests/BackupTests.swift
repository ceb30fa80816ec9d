import TestSupport
import Testing

@Suite struct `A backup` {
  @Test func `brings back what was, and refuses what was damaged`() throws {
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
        #expect(try service.program.wait(deadline: 20) == 0)
      }
      let whole = try readFile("\(folder)/copy.db")
      // Also where the database has nothing but empty space.
      for place in stride(from: 0, to: whole.count, by: whole.count / 7) {
        var damaged = whole
        damaged[place] ^= 1
        try writeFile("\(folder)/bad.db", damaged)
        let refused = try regentctl("restore", "bad.db", "--yes")
        #expect(refused.status == 1, "a flipped bit at \(place)")
      }
      try writeFile("\(folder)/bad.db", Array(whole.dropLast(4096)))
      #expect(try regentctl("restore", "bad.db", "--yes").status == 1)

      let restored = try regentctl("restore", "copy.db", "--yes")
      #expect(restored.status == 0, "\(restored.text)")
      try withService(in: folder) { _ in
        let list = try regentctl("requestor", "list").text
        #expect(list.contains("before") && !list.contains("after"))
        #expect(try regentctl("audit", "tail").text.contains("backup.restore database"))
        #expect(try regentctl("doctor").text.contains("every row is signed as it must be"))
      }
    }
  }

  @Test func `needs the key of its time`() throws {
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
        #expect(try service.program.wait(deadline: 20) == 0)
      }
      try expect(1, "regentctl restore copy.db --yes")
      // The new key opens the database as it is.
      try withService(in: folder) { _ in try expect(0, "regentctl requestor show acme") }
      try expect(0, "cp -p old \(state)/master-key && regentctl restore copy.db --yes")
      try withService(in: folder) { _ in try expect(0, "regentctl requestor show acme") }
    }
  }

  @Test func `goes on with a master key whose change was cut short`() throws {
    try withTemporaryFolder { folder in
      func expect(_ status: Int32, _ command: String) throws {
        let finished = try run(
          "sh", ["-c", "cd \"$HOME\" && \(command)"],
          environment: ["HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin"])
        #expect(finished.status == status, "\(command): \(finished.errorText)")
      }
      let key = "\(folder)/.local/state/regent/master-key"
      try withService(in: folder) { _ in try expect(0, "regentctl requestor add acme") }
      // Killed before the database was sealed with the new key.
      try writeFile("\(key).next", Array(String(repeating: "ab", count: 32).utf8))
      try expect(0, "chmod 600 \(key).next")
      try withService(in: folder) { service in
        try expect(0, "regentctl requestor show acme && test ! -e \(key).next")
        try expect(0, "cp -p \(key) old && regentctl master-key change --yes")
      }
      // Killed after that, before the new key got its name.
      try expect(0, "mv \(key) \(key).next && mv old \(key)")
      try withService(in: folder) { _ in
        try expect(0, "regentctl requestor show acme && test ! -e \(key).next")
      }
    }
  }
}
