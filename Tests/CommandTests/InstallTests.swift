import Glibc
import TestSupport
import Testing

/// `make install` and `make uninstall`: runs `deploy/install` with the built programs.
@Suite struct `deploy install` {
  @Test func `install makes a working installation, and uninstall removes exactly its files`() throws {
    try withTemporaryFolder { folder in
      let packager = Packager(destination: "\(folder)/a root")
      let prefix = "\(packager.destination)/opt/tv"
      #expect(try packager.run("install").status == 0)
      let first = try listing(packager.destination)

      // The programs find the files that were installed with them.
      let environment = ["HOME": folder, "PATH": "/usr/bin:/bin"]
      let checked = try run("\(prefix)/bin/regentd", ["check"], environment: environment)
      #expect(checked.outputText.contains("pages: \(prefix)/share/regent/web is complete"))
      for program in ["regentd", "regentctl", "regent"] {
        let started = try run("\(prefix)/bin/\(program)", ["--version"], environment: environment)
        #expect(started.status == 0)
        let pages = first.filter {
          $0.hasPrefix("./opt/tv/share/man/man") && $0.contains("/\(program).")
        }
        #expect(pages.count == 1)
      }
      // Each manual page names its own section, and the units name the programs' installed paths.
      for page in first where page.contains("/share/man/man") && page.contains("regent") {
        let text = String(
          decoding: try readFile(packager.destination + page.dropFirst()), as: UTF8.self)
        #expect(page.last.map { text.contains(".TH \(name(of: page)) \($0) ") } == true, "\(page)")
      }
      for unit in ["regentd.service", "regentd@.service", "regent.service", "regent-pair@.service"] {
        let text = String(
          decoding: try readFile("\(prefix)/lib/systemd/system/\(unit)"), as: UTF8.self)
        #expect(text.contains("\nExecStart=/opt/tv/bin/regent"), "\(unit)")
      }
      try loadCompletions(prefix, environment)

      // Installing again changes nothing.
      #expect(try packager.run("install").status == 0)
      #expect(try listing(packager.destination) == first)

      // A file that install did not make stays, with its folders.
      try writeFile("\(prefix)/share/regent/web/mine.txt", [])
      let removed = try packager.run("uninstall")
      #expect(removed.status == 0)
      #expect(
        try listing(packager.destination) == [
          "./opt", "./opt/tv", "./opt/tv/share", "./opt/tv/share/regent",
          "./opt/tv/share/regent/web", "./opt/tv/share/regent/web/mine.txt",
        ])
      // Without that file uninstall leaves nothing.
      #expect(try run("rm", ["-r", packager.destination]).status == 0)
      #expect(try packager.run("install").status == 0)
      #expect(try packager.run("uninstall").status == 0)
      // The folders above the prefix were made by install, too.
      #expect(unsafe access(packager.destination, F_OK) != 0)
      let nothing = try packager.run("uninstall")
      #expect(nothing.status == 0)
      #expect(nothing.outputText.contains("nothing of Regent is installed"))
    }
  }

  @Test func `uninstall keeps folders above the prefix that existed before`() throws {
    try withTemporaryFolder { folder in
      let made = try run("mkdir", ["\(folder)/there"])
      #expect(made.status == 0)
      let packager = Packager(destination: "\(folder)/there", prefix: "/a/b/c")
      #expect(try packager.run("install").status == 0)
      // The second install finds the folders of the first, which still count as its own.
      #expect(try packager.run("install").status == 0)
      #expect(try packager.run("uninstall").status == 0)
      #expect(try listing(folder) == ["./there"])
    }
  }

  @Test func `a prefix with spaces is quoted for systemd, and one that cannot be quoted is refused`() throws {
    try withTemporaryFolder { folder in
      let spaced = Packager(destination: folder, prefix: "/opt/with space")
      #expect(try spaced.run("install").status == 0)
      let unit = String(
        decoding: try readFile("\(folder)/opt/with space/lib/systemd/system/regentd.service"),
        as: UTF8.self)
      #expect(unit.contains("\nExecStart=\"/opt/with space/bin/regentd\" serve\n"))
      for prefix in ["/opt/50%", "/opt/$HOME", "/opt/\"a\"", "/opt/a\\b"] {
        let refused = try Packager(destination: folder, prefix: prefix).run("install")
        #expect(refused.status == 2)
        #expect(refused.errorText.contains("choose another PREFIX"), "\(refused.errorText)")
      }
    }
  }

  @Test func `install brings the C library and the Python module`() throws {
    try withTemporaryFolder { folder in
      let packager = Packager(destination: folder)
      #expect(try packager.run("install").status == 0)
      let place = "\(folder)/opt/tv"
      #expect(unsafe access("\(place)/include/media_token.h", R_OK) == 0)
      if !isSanitized {
        let script = "\(place)/share/doc/regent/examples/verify-media-token/verify.py"
        let checked = try run(
          "python3", [script, "\(place)/lib/libMediaToken.so", "\(folder)/none", "SPORT", "channel-1"])
        #expect(checked.errorText == "no usable key in \(folder)/none\n")
      }
      // Python finds the module that programs on the box use to talk to the daemon.
      let module = try run(
        "python3", ["-B", "-c", "import regent; print(regent.__file__)"],
        environment: ["PATH": "/usr/bin:/bin", "PYTHONPATH": "\(place)/lib/python3/dist-packages"])
      #expect(module.outputText == "\(place)/lib/python3/dist-packages/regent.py\n")
      // Packagers may leave the library out; then an older one is removed.
      let without = try Packager(destination: folder, library: "\(folder)/none").run("install")
      #expect(without.status == 0)
      #expect(without.errorText.contains("none is not built and is left out"))
      #expect(unsafe access("\(place)/lib/libMediaToken.so", F_OK) != 0)
    }
  }

  @Test func `install brings the documents, and their links lead to installed files`() throws {
    try withTemporaryFolder { folder in
      #expect(try Packager(destination: folder).run("install").status == 0)
      let place = "\(folder)/opt/tv/share/doc/regent"
      var links = 0
      for name in [
        "install", "install-source", "configure", "provision", "tasks", "keys", "backup", "upgrade", "postgresql",
        "nodes", "nodes-troubleshoot", "privacy", "monitor", "troubleshoot", "operating", "box", "box-programs",
        "box-account", "box-oauth", "socket", "porting", "protocol", "protocol-oauth", "protocol-apps",
        "from-regcode-to-token", "threat-model", "threat-model-oauth", "limits", "scaling",
      ] {
        let text = String(decoding: try readFile("\(place)/\(name).md"), as: UTF8.self)
        for part in text.split(separator: "](").dropFirst() {
          let target = part.prefix { $0 != ")" && $0 != "#" }
          guard !target.isEmpty, !target.contains("://") else { continue }
          links += 1
          #expect(unsafe access("\(place)/\(target)", R_OK) == 0, "\(name).md: \(target)")
        }
      }
      #expect(links > 0)
      // Every file name in an installed text must exist or be marked as part of the sources.
      let names = try run("\(packageFolder())/Tests/installed-names", [folder])
      #expect(names.status == 0, "\(names.outputText)\(names.errorText)")
    }
  }

  @Test func `install needs no compiler when the programs are built`() throws {
    try withTemporaryFolder { folder in
      let release = "\(folder)/.build/release"
      #expect(try run("mkdir", ["-p", release, "\(folder)/deploy"]).status == 0)
      #expect(try run("cp", ["\(packageFolder())/Makefile", folder]).status == 0)
      try writeFile("\(folder)/deploy/install", "#!/bin/sh\necho installed\n".utf8, mode: 0o755)
      try writeFile("\(folder)/deploy/bootstrap", "#!/bin/sh\nexit 1\n".utf8, mode: 0o755)
      func install() throws -> FinishedProgram {
        try run(
          "make", ["-C", folder, "--no-print-directory", "install"],
          environment: ["PATH": "/usr/bin:/bin"])
      }
      for program in ["regentd", "regentctl", "regent"] {
        #expect(try install().status != 0, "without \(program)")
        try writeFile("\(release)/\(program)", [], mode: 0o755)
      }
      let installed = try install()
      #expect(installed.status == 0, "\(installed.errorText)")
      #expect(installed.outputText == "installed\n")
    }
  }

  @Test func `install warns when the programs are older than the sources`() throws {
    try withTemporaryFolder { folder in
      let programs = "\(folder)/programs"
      let names = ["regentd", "regentctl", "regent"]
      #expect(try run("mkdir", [programs]).status == 0)
      let copied = try run(
        "cp", try names.map { try builtProgram($0) } + [programs])
      #expect(copied.status == 0)
      func said(since time: String) throws -> String {
        for name in names {
          #expect(try run("touch", ["-d", time, "\(programs)/\(name)"]).status == 0)
        }
        let packager = Packager(destination: "\(folder)/root", programs: programs)
        let finished = try packager.run("install")
        #expect(finished.status == 0)
        return finished.errorText
      }
      #expect(try said(since: "2001-01-01").contains("sources are newer than the programs"))
      #expect(try said(since: "tomorrow") == "")
    }
  }

  @Test func `install removes files of an older version`() throws {
    try withTemporaryFolder { folder in
      let packager = Packager(destination: folder)
      #expect(try packager.run("install").status == 0)
      let list = "\(folder)/opt/tv/share/regent/installed"
      let lines = String(decoding: try readFile(list), as: UTF8.self)
      try writeFile("\(folder)/opt/tv/share/regent/old.txt", [])
      try writeFile(list, Array("\(lines)f share/regent/old.txt\n".utf8))
      #expect(try packager.run("install").status == 0)
      #expect(unsafe access("\(folder)/opt/tv/share/regent/old.txt", F_OK) != 0)
      #expect(String(decoding: try readFile(list), as: UTF8.self) == lines)
    }
  }

  @Test func `install names what is missing`() throws {
    try withTemporaryFolder { folder in
      let unbuilt = try Packager(destination: folder, programs: "\(folder)/none").run("install")
      #expect(unbuilt.status == 1)
      #expect(unbuilt.errorText.contains("regentd is not built; type: make build"))
      let relative = try Packager(destination: folder, prefix: "usr").run("install")
      #expect(relative.status == 2)
      #expect(relative.errorText.contains("is not an absolute path"))
      #expect(try listing(folder) == [])
    }
  }

  @Test func `install brings the users and folders that systemd creates`() throws {
    try withTemporaryFolder { folder in
      #expect(try Packager(destination: folder).run("install").status == 0)
      #expect(try run("mkdir", ["-p", "\(folder)/etc/regent"]).status == 0)
      for file in ["regentd.env", "agent.conf", "secret"] {
        try writeFile("\(folder)/etc/regent/\(file)", [], mode: 0o666)
      }
      let installed = "\(folder)/opt/tv/lib"
      let users = try run(
        "systemd-sysusers",
        ["--root=\(folder)"] + ["regentd", "regent"].map { "\(installed)/sysusers.d/\($0).conf" })
      #expect(users.status == 0, "\(users.errorText)")
      let passwords = String(decoding: try readFile("\(folder)/etc/passwd"), as: UTF8.self)
      let groups = String(decoding: try readFile("\(folder)/etc/group"), as: UTF8.self)
      #expect(passwords.contains("regentd:x:") && passwords.contains("\nregent:x:"))
      #expect(groups.contains("regent-admin:x:"))
      // Only root can create files of other users, which the modes depend on.
      guard geteuid() == 0 else { return }
      let made = try run(
        "systemd-tmpfiles",
        ["--root=\(folder)", "--create"]
          + ["regentd", "regent"].map { "\(installed)/tmpfiles.d/\($0).conf" })
      #expect(made.status == 0, "\(made.errorText)")
      let modes = try run(
        "stat",
        ["-c", "%a"] + ["regentd.env", "agent.conf", "secret"].map { "\(folder)/etc/regent/\($0)" })
      #expect(modes.outputText == "640\n644\n600\n")
    }
  }

  private func loadCompletions(_ prefix: String, _ environment: [String: String]) throws {
    let share = "\(prefix)/share"
    let bash = try run(
      "bash",
      [
        "-c", ". \"$0\"/regentctl && complete -p regentctl",
        "\(share)/bash-completion/completions",
      ], environment: environment)
    #expect(bash.outputText.contains("regentctl"), "\(bash.errorText)")
    let zsh = try run(
      "zsh",
      [
        "-fc",
        "fpath=($0 $fpath); autoload -Uz compinit && compinit -u -D && print $_comps[regentctl]",
        "\(share)/zsh/site-functions",
      ], environment: environment)
    #expect(zsh.outputText.contains("_regentctl"), "\(zsh.errorText)")
    let fish = try run(
      "fish",
      [
        "-N", "-c",
        "source \"\(share)/fish/vendor_completions.d/regentctl.fish\"; complete regentctl",
      ],
      environment: environment)
    #expect(fish.outputText.contains("regentctl"), "\(fish.errorText)")
  }

  /// `REGENTD` for `…/regentd.8`.
  private func name(of page: String) -> String {
    page.split(separator: "/").last?.split(separator: ".").first?.uppercased() ?? ""
  }

  /// Every path below a folder, sorted.
  private func listing(_ folder: String) throws -> [String] {
    let found = try run("sh", ["-c", "cd \"$0\" && find . -mindepth 1 | LC_ALL=C sort", folder])
    #expect(found.status == 0)
    return found.outputText.split(separator: "\n").map(String.init)
  }
}

/// Runs `deploy/install` with a DESTDIR, as a packager does.
private struct Packager {
  let destination: String
  var prefix = "/opt/tv"
  var programs: String?
  var library: String?

  func run(_ verb: String) throws -> FinishedProgram {
    try TestSupport.run(
      "\(packageFolder())/deploy/install", [verb, prefix],
      environment: [
        "DESTDIR": destination, "PROGRAMS": try programs ?? productsFolder(),
        "LIBRARY": try library ?? productsFolder() + "/libMediaToken.so",
        "PATH": "/usr/bin:/bin", "HOME": "/nonexistent",
      ], deadline: 300)
  }
}
