import Glibc
import TestSupport
import Testing

@Suite struct `regentctl setup` {
  @Test func `setup leaves a service without findings, and a second run changes nothing`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/settings", "# kept\n#REGENT_PUBLIC_URL=https://x\nREGENT_LOG=text\n".utf8, mode: 0o640)
      #expect(unsafe mkdir("\(folder)/backups", 0o700) == 0)
      try withService(in: folder) { _ in
        let setup =
          "regentctl setup --requestor acme --provider cable --account anna --allow '*' --backups backups --settings settings"
        let first = try shell.get("echo 'a long enough password' | \(setup) 2>&1")
        for line in [
          "requestor acme added", "provider cable added", "integration of acme with cable added",
          "account cable/anna added", "the secret is not shown again", "backup: backups/regent-",
          "ok    provisioning: requestors that are ready: 1",
        ] { #expect(first.contains(line), "\(line): \(first)") }
        let again = try shell.get("\(setup) 2>&1 < /dev/null")
        #expect(!again.contains("added") && !again.contains("secret") && !again.contains("backup:  "), "\(again)")
        #expect(try shell.get("ls backups | wc -l") == "1")

        // Setup shows the changed settings and keeps comments, and a second run changes nothing.
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
            REGENT_LISTEN=unix:/run/regentd-proxy/http.sock
            REGENT_TRUST_PROXY=unix
            """)
        #expect(try shell.get("stat -c %a settings") == "640")
        let same = try shell.get("\(setup) --public-url https://tv.example.org --proxy 2>&1 < /dev/null")
        #expect(!same.contains("REGENT_"), "\(same)")
        // An existing proxy setting is kept.
        try shell.get(
          "cp settings kept; sed -i 's|^REGENT_LISTEN=.*|REGENT_LISTEN=127.0.0.1:8788|; "
            + "s|^REGENT_TRUST_PROXY=.*|REGENT_TRUST_PROXY=\"127.0.0.1/32 ::1/128\"|' settings && cp settings named")
        try shell.get("\(setup) --public-url https://tv.example.org --proxy 2>&1 < /dev/null")
        #expect(try shell.get("cmp settings named && mv kept settings && echo kept") == "kept")
        #expect(try shell.refusal("\(setup) --public-url http://tv --proxy").contains("has no TLS, but"))
        // No certificate exists for these URLs, so that no phone could open them although every check would pass.
        for url in ["https://192.168.50.10:8787", "https://tv.example.org:8787", "https://192.168.50.10"] {
          let said = try shell.refusal("\(setup) --public-url \(url)")
          #expect(
            said.contains("needs TLS, but there is no certificate") && said.contains("http\(url.dropFirst(5))"),
            "\(said)")
        }
        #expect(try shell.refusal("\(setup) --public-url http://LAN-ADDRESS:8787").contains("hostname -I"))
        #expect(
          try shell.refusal("regentctl setup --settings none --public-url http://tv").contains(
            "regentd serve --listen '*:80' --public-url 'http://tv"))
      }
    }
  }

  @Test func `setup --invite makes an enrolment code instead of a key pair, and doctor has no finding`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        let said = try shell.get(
          "mkdir -m 700 backups && echo 'a long enough password' | "
            + "regentctl setup --invite --requestor acme --provider cable --account anna --allow '*' --backups backups")
        #expect(said.contains("on the box  sudo regent setup --code 'http://127.0.0.1:"), "\(said)")
        #expect(!said.contains("secret") && !said.contains("warn  requestor"), "\(said)")
        #expect(try shell.get("regentctl invitation list --json").contains(#""uses":1"#))
        #expect(try !shell.get("regentctl key list acme").contains("calls"))

        // At a terminal setup asks what the box gets. Return accepts the default; a typed word overrides it.
        let typed = try shell.get(
          #"(printf '\n\n\n'; printf 'code\n') | script -qec 'regentctl setup --backups backups' /dev/null"#)
        #expect(typed.contains("or none (later) [none]: "), "\(typed)")
        #expect(try shell.get("regentctl invitation list | grep -c acme") == "2", "\(typed)")
      }
    }
  }

  @Test func `announce publishes the service's address with Avahi, and an address of this machine alone is refused`()
    throws
  {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService("--public-url", "https://tv.example.org:8443/tv", in: folder) { _ in
        // Replaces Avahi's program with one that prints its arguments.
        try shell.get(
          #"mkdir bin && printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >bin/avahi-publish-service && chmod 755 bin/*"#)
        let said = try shell.get("PATH=$HOME/bin:$PATH regentctl announce --name 'The house'")
        #expect(
          said == "<--no-fail><--><The house><_regent._tcp><8443><txtvers=1><tls=1><host=tv.example.org><path=/tv>")
        let long = try shell.get("PATH=$HOME/bin:$PATH regentctl announce --name \(String(repeating: "é", count: 40))")
        #expect(long.contains("<\(String(repeating: "é", count: 31))>"), "a label has 63 bytes: \(long)")
        let program = try builtProgram("regentctl")
        #expect(try shell.refusal("PATH=/none \(program) announce").contains("apt install avahi-daemon"))
      }
    }
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        for command in ["announce", "setup --announce on"] {
          let said = try shell.refusal("regentctl \(command)")
          #expect(said.contains("no public address that other machines can open"), "\(said)")
        }
      }
    }
  }

  @Test func `setup --json prints one document, also when a later step fails`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        let setup = "regentctl setup --json --requestor acme --provider cable"
        let cut = try shell.type("\(setup) --backups none --account anna < /dev/null")
        #expect(cut.status != 0 && cut.errorText.contains("password of anna"), "\(cut.errorText)")
        #expect(cut.outputText.hasPrefix(#"{"requestor":{"#) && cut.outputText.contains(#""provider":{"#))
        let whole = try shell.get(
          "mkdir -m 700 backups && echo 'a long enough password' | \(setup) --backups backups --account anna")
        #expect(whole.split(separator: "\n").count == 1, "\(whole)")
        let members = try shell.get(
          "echo '\(whole)' | python3 -c 'import json, sys; print(*json.load(sys.stdin))'")
        #expect(members == "account key backup doctor", "\(whole)")
        let invited = try shell.get("\(setup) --invite --backups backups < /dev/null")
        #expect(invited.contains(#""invitation":{"id":""#) && !invited.contains(#""key""#), "\(invited)")
      }
    }
  }

  @Test(
    .enabled(if: installedProgram("zbarimg") != nil, "nothing reads QR codes: apt-get install zbar-tools"),
    arguments: ["xterm-256color", "linux"])
  func `an enrolment code is drawn as a QR code on a terminal, with what the box needs`(terminal: String) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        try shell.get("regentctl requestor add acme")
        let invite = "stty rows 60 cols 120; TERM=\(terminal) regentctl requestor invite acme"
        let shown = try shell.get("script -qec '\(invite)' /dev/null < /dev/null | tr -d '\\r'")
        let lines = shown.split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("on the box") })
        let whole = try #require(line.split(separator: "'").dropFirst().first)
        let picture = terminalPicture(lines.filter { $0.hasPrefix("\u{1b}") })
        #expect(try decode(picture) == whole, "\(shown)")

        // In a pipe, and in a terminal that is too narrow, there is only text.
        #expect(try !shell.get("regentctl requestor invite acme").contains("█"))
        let narrow = "stty rows 60 cols 30; TERM=\(terminal) regentctl requestor invite acme"
        let few = try shell.get("script -qec '\(narrow)' /dev/null < /dev/null")
        #expect(few.contains("code") && !few.contains("\u{1b}"), "\(few)")
      }
    }
  }

  @Test func `backup --keep removes the oldest backups and touches no other file`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in
        try shell.get("mkdir -m 700 kept && touch kept/other.db kept/regent-20200101T000000Z.db")
        // A backup dated by a clock that was ahead, and the file of a killed backup.
        try shell.get("touch kept/regent-20990101T000000Z.db kept/.regent-20200101T000000Z.db.partial")
        let said = try shell.get("regentctl backup --keep 2 kept")
        #expect(said.contains("verified"))
        let left = try shell.get("ls -A kept | sort").split(separator: "\n")
        #expect(left.count == 3 && left.contains("other.db") && left.contains("regent-20990101T000000Z.db"), "\(left)")
        // Two backups within one second get different names.
        for _ in 0..<2 { try shell.get("regentctl backup --keep 5 kept") }
        let all = try shell.get("ls -A kept").split(separator: "\n")
        #expect(all.count == 5, "\(all)")
      }
    }
  }
}

/// The QR code on a terminal as a PGM picture, with eight points for a column and for half a row.
private func terminalPicture(_ lines: [Substring]) -> [UInt8] {
  var rows: [[Bool]] = []
  for line in lines {
    var upper: [Bool] = []
    var lower: [Bool] = []
    var isDarkGround = false
    var rest = line
    while let character = rest.popFirst() {
      if character == "\u{1b}" {
        let colour = rest.prefix { $0 != "m" }
        isDarkGround = colour == "[40" || colour.hasSuffix("48;5;16")
        rest = rest.dropFirst(colour.count + 1)
        continue
      }
      upper.append(isDarkGround || "█▀".contains(character))
      lower.append(isDarkGround || "█▄".contains(character))
    }
    rows += [upper, lower]
  }
  // A row of coloured spaces has two columns for each module.
  let width = rows.map(\.count).max() ?? 0
  var bytes = Array("P5 \(width * 8) \(rows.count * 8) 255\n".utf8)
  for row in rows {
    let line = (0..<width * 8).map { x -> UInt8 in x / 8 < row.count && row[x / 8] ? 0 : 255 }
    for _ in 0..<8 { bytes += line }
  }
  return bytes
}
