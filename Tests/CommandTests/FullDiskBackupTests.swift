import Glibc
import TestSupport
import Testing

/// Full disks: small file systems in memory in a mount namespace that only the test sees.
@Suite(.enabled(if: getuid() == 0, "mounting takes root"))
struct `A backup on a full disk` {
  private static let script = """
    cd "$HOME" && mkdir -p -m 700 "$STATE" out
    mount -t tmpfs -o size=8m,mode=700 none "$STATE" && mount -t tmpfs -o size=64k none out || exit 77
    regentd serve --listen "unix:$HOME/socket" --public-url http://tv.lan > log 2>&1 & service=$!
    for i in $(seq 600); do regentctl requestor list > /dev/null 2>&1 && break; sleep 0.1; done
    regentctl requestor add acme
    regentctl backup out/copy.db 2>&1; echo "there: $? $(ls -A out)"
    cat /dev/zero > "$STATE/fill" 2> /dev/null; truncate -s -100K "$STATE/fill"
    regentctl backup copy.db 2>&1; echo "here: $? $(ls -A | grep -c copy) $(find "$STATE" -name 'copy*' | grep -c copy)"
    rm "$STATE/fill"; regentctl backup copy.db 2>&1; echo "room: $?"
    kill $service; wait $service; echo "end: $?"
    """

  @Test func `a backup without space on either side is reported, leaves nothing, and succeeds when there is room`()
    throws
  {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/script", Self.script.utf8)
      let said = try shell.get("STATE=\(shell.state) unshare -m bash ./script")
      #expect(said.contains("the disk is full: there is no space for the copy, and none was kept"), "\(said)")
      #expect(said.contains("hint: free as much space as the database uses"), "\(said)")
      #expect(said.contains("out/copy.db") && said.contains("No space left on device"), "\(said)")
      for line in ["there: 1 \n", "here: 1 0 0\n", "room: 0\n", "end: 0"] {
        #expect(said.contains(line), "\(line): \(said)")
      }
    }
  }
}
