import Glibc
import TestSupport
import Testing

@Suite struct `regentctl setup` {
  @Test func `leaves a service about which doctor has nothing to say, and does nothing the second time`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/settings", "# kept\n#REGENT_PUBLIC_URL=https://x\nREGENT_LOG=text\n".utf8, mode: 0o640)
      #expect(unsafe mkdir("\(folder)/backups", 0o700) == 0)
      try withService(in: folder) { _ in
        let setup =
          "regentctl setup --requestor acme --provider cable --account anna --backups backups --settings settings"
        let first = try shell.get("echo 'a long enough password' | \(setup) 2>&1")
        for line in [
          "requestor acme added", "provider cable added", "integration of acme with cable added",
          "account cable/anna added", "the secret is not shown again", "backup: backups/regent-",
          "ok    provisioning: requestors that are ready: 1",
        ] { #expect(first.contains(line), "\(line): \(first)") }
        let again = try shell.get("\(setup) 2>&1 < /dev/null")
        #expect(!again.contains("added") && !again.contains("secret") && !again.contains("backup:  "), "\(again)")
        #expect(try shell.get("ls backups | wc -l") == "1")

        // The settings: the difference is shown, comments stay, and again nothing is to be done.
        let changed = try shell.get(
          "\(setup) --public-url https://tv.example.org --proxy 2>&1 < /dev/null")
        #expect(changed.contains("+ REGENT_PUBLIC_URL=https://tv.example.org"), "\(changed)")
        #expect(changed.contains("restart the service with these settings"))
        #expect(
          try shell.get("cat settings") == """
            # kept
            #REGENT_PUBLIC_URL=https://x
            REGENT_PUBLIC_URL=https://tv.example.org
            REGENT_LOG=text
            REGENT_LISTEN=127.0.0.1:8787
            REGENT_TRUST_PROXY="127.0.0.1/32 ::1/128"
            """)
        #expect(try shell.get("stat -c %a settings") == "640")
        let same = try shell.get("\(setup) --public-url https://tv.example.org --proxy 2>&1 < /dev/null")
        #expect(!same.contains("REGENT_"), "\(same)")
        #expect(try shell.refusal("\(setup) --public-url http://tv --proxy").contains("is not encrypted"))
        #expect(
          try shell.refusal("regentctl setup --settings none --public-url http://tv").contains(
            "regentd serve --listen '*:80' --public-url 'http://tv"))
      }
    }
  }

  @Test func `backups of every night are kept as many as wanted, and nothing else is touched`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        try shell.get("mkdir -m 700 kept && touch kept/other.db kept/regent-20200101T000000Z.db")
        // One that a clock which was ahead once has made, and what a killed attempt left.
        try shell.get("touch kept/regent-20990101T000000Z.db kept/.regent-20200101T000000Z.db.partial")
        let said = try shell.get("regentctl backup --keep 2 kept")
        #expect(said.contains("checked and good"))
        let left = try shell.get("ls -A kept | sort").split(separator: "\n")
        #expect(left.count == 3 && left.contains("other.db") && left.contains("regent-20990101T000000Z.db"), "\(left)")
      }
    }
  }
}
