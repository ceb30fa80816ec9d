import Glibc
import TestSupport
import Testing

/// Tests the groups of the admin socket in a mount namespace that has its own `/etc/group`.
@Suite(.enabled(if: geteuid() == 0, "only root can act as other users"))
struct `Groups of the admin socket` {
  @Test func `members of each group can connect with their role, and doctor says when a group is missing`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.get("chmod 755 . && mkdir -m 755 open && cp /etc/group group && cp group former")
      try writeFile("\(folder)/play", Self.script.utf8)
      let said = try shell.type("exec unshare -m bash play")
      #expect(said.status == 0, "\(said.errorText)")
      let expected = """
        owner 200 200
        desk 200 403
        watcher 200 403
        stranger 000 000
        desk: this needs the role owner, and user 54321 has the role desk
        desk: ask root or a member of the group tv-owners, which has the role owner, to run the command
        groups: complete
        BAD   admin-groups: there is no group tv-desk: the next start of the service will fail
              fix: groupadd --system tv-desk
        warn  admin-groups: the group tv-watchers was deleted and created again: its members cannot use regentctl until the service restarts
              fix: systemctl restart regentd
        regentd: --admin-desk-group: there is no group tv-desk

        """
      #expect(said.outputText == expected, "\(said.outputText)\(said.errorText)")
    }
  }

  private static let script = #"""
    set -e
    mount --make-rprivate / && mount --bind group /etc/group
    printf '%s\n' tv-owners:x:4241: tv-desk:x:4242: tv-watchers:x:4243: >> /etc/group
    S=$PWD/open/admin.sock
    GROUPS_OF="--admin-group tv-owners --admin-desk-group tv-desk --admin-viewer-group tv-watchers"
    regentd serve --listen 127.0.0.1:0 --admin-socket $S $GROUPS_OF > out 2> log &
    for I in $(seq 300); do grep -q listening out && break; sleep 0.1; done
    as() { G=$1; shift; setpriv --reuid=54321 --regid=$G --clear-groups curl -s --unix-socket $S "$@" || true; }
    status() { as $1 -o /dev/null -w '%{http_code}' -X $2 http://localhost$3; }
    for WHO in owner:4241 desk:4242 watcher:4243 stranger:4244; do
      G=${WHO#*:}
      echo ${WHO%:*} $(status $G GET /v1/stats) $(status $G POST /v1/backups)
    done
    as 4242 -X POST http://localhost/v1/backups > refusal
    echo "desk: $(grep -o '"message":"[^"]*"' refusal | cut -d '"' -f 4)"
    echo "desk: $(grep -o '"hint":"[^"]*"' refusal | cut -d '"' -f 4)"
    regentctl --socket $S doctor | grep -q admin-groups || echo groups: complete
    cp former less && echo tv-owners:x:4241: >> less && echo tv-watchers:x:4299: >> less && cat less > /etc/group
    regentctl --socket $S doctor | grep -A 1 admin-groups
    kill %1; wait %1 || true
    regentd check --settings-only --admin-socket $S $GROUPS_OF 2>&1 | grep -m 1 admin-desk-group
    """#
}
