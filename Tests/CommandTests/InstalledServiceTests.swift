import Glibc
import TestSupport
import Testing

/// root's commands on a machine with an installed service: a mount namespace has its unit, settings and folder.
@Suite(.enabled(if: geteuid() == 0, "only root can mount"))
struct `root's commands beside an installed service` {
  @Test func `restore uses the installed service's folder, not root's own`() throws {
    try withMachine { shell in
      let said = try onMachine(shell, "regentctl restore copy.db --yes && regentd check")
      #expect(said.status == 0, "\(said.errorText)")
      #expect(said.outputText.contains("/var/lib/regentd/regent.db is restored from copy.db"), "\(said.outputText)")
      #expect(said.outputText.contains("database: /var/lib/regentd/regent.db is intact"), "\(said.outputText)")
      #expect(
        said.errorText.contains(
          "regentd: using the installed service: data in /var/lib/regentd, settings of /etc/regent/regentd.env"),
        "\(said.errorText)")
      // The service's settings apply, and their mistakes are reported.
      #expect(said.errorText.contains("there is no setting REGENT_LISTN"), "\(said.errorText)")
      #expect(try shell.type("test -e .local/state/regent/regent.db").status == 1)
      #expect(try shell.get("find lib/regentd ! -user nobody") == "")
    }
  }

  @Test func `a command that uses root's own database says that it is not the installed service's`() throws {
    try withMachine { shell in
      try shell.get("mkdir -p .local/state && mv own .local/state/regent")
      let said = try onMachine(shell, "regentd check")
      #expect(
        said.errorText.contains("/.local/state/regent, not the installed service's"), "\(said.errorText)")
      #expect(said.errorText.contains("STATE_DIRECTORY=/var/lib/regentd regentd check"))
      // A variable given for one command decides.
      let named = try onMachine(shell, "STATE_DIRECTORY=/var/lib/regentd regentd check")
      #expect(!named.errorText.contains("is taken"), "\(named.errorText)")
    }
  }

  private func onMachine(_ shell: Operator, _ command: String) throws -> FinishedProgram {
    try shell.type(
      "exec unshare -m sh -c 'mount --make-rprivate / && mount --bind etc /etc && mount --bind lib /var/lib && "
        + "cd \"$HOME\" && \(command)'")
  }

  private func withMachine(_ body: (Operator) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      try shell.get(
        """
        chmod 755 . && cp -a /etc etc && mkdir -p etc/regent etc/systemd/system lib && mkdir -m 700 lib/regentd
        echo '[Service]' > etc/systemd/system/regentd.service; echo REGENT_LISTN=x > etc/regent/regentd.env
        cp \(shell.state)/master-key lib/regentd && chown -R nobody:nogroup lib/regentd && mv \(shell.state) own
        """)
      try body(shell)
    }
  }
}
