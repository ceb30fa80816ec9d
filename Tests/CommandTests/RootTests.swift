import Glibc
import TestSupport
import Testing

/// root's commands on data that belongs to the service's user.
@Suite(.enabled(if: geteuid() == 0, "only root can act as somebody else"))
struct `root's commands on the service user's data` {
  @Test func `root restores a backup that only root can read, and all files stay the service user's`() throws {
    try withState { shell in
      let options = "--database other/regent.db --master-key other/master-key"
      #expect(try shell.get("stat -c '%U %a' copy.db") == "root 600")
      for _ in 1...2 {
        let said = try shell.get("regentctl restore copy.db \(options) --yes")
        #expect(said.contains("start the service (with systemd: systemctl start regentd)"))
        #expect(try shell.get("find other ! -user nobody") == "")
        #expect(try shell.get("find other -type f ! -perm 600") == "")
      }
      // The second restore kept the first database.
      #expect(try shell.get("ls other | grep -c before-") == "1")
      #expect(try shell.get("regentd check \(options)").contains("rows: all signatures are valid"))
    }
  }

  @Test func `root is told which user may run the command, and never to change the owner of the key`() throws {
    try withState { shell in
      for start in ["serve --listen 127.0.0.1:0", "serve --database other/regent.db"] {
        let said = try shell.refusal("STATE_DIRECTORY=$HOME/other regentd \(start)")
        #expect(said.contains("belongs to user nobody") || said.contains("regent.db"), "\(said)")
        #expect(said.contains("hint: run the command as that user: sudo -u nobody …"), "\(said)")
        #expect(!said.contains("chown"))
      }
      #expect(try shell.get("find other ! -user nobody") == "")
    }
  }

  @Test func `a check by root leaves no trace in the folder`() throws {
    try withState { shell in
      try shell.get(
        "regentctl restore copy.db --database other/regent.db --master-key other/master-key --yes")
      let before = try shell.get(traces)
      #expect(
        try shell.get("STATE_DIRECTORY=$HOME/other regentd check").contains(
          "database: \(shell.folder)/other/regent.db is intact"))
      #expect(try shell.get(traces) == before)
    }
  }

  /// The files with owner, mode, size and times.
  ///
  /// The lock file is left out, because each holder changes it.
  private let traces =
    "cd other && stat -c '%n %U %a %s %Y %Z' . * | grep -v lock && sha256sum regent.db m*"

  /// Makes a backup that belongs to root, and the state folder of a service of user nobody with a master key but no
  /// database.
  private func withState(_ body: (Operator) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      try shell.get("chmod 755 . && mkdir -m 700 other && cp \(shell.state)/master-key other")
      try shell.get("chown -R nobody:nogroup other")
      try body(shell)
    }
  }
}
