internal import Glibc
internal import TestSupport
internal import Testing

/// Uses real file systems in image files, mounted where only the test sees them.
@Suite(.enabled(if: mayMount, "mounting takes root and a loop device"))
struct `A nearly full ext4 with blocks of 1 KiB` {
  /// Leaves a log behind, as a crash does, and starts again with different amounts of free space.
  ///
  /// The log's index is mapped into memory. SQLite alone would create it with holes in three of four blocks, and
  /// reading the log touches them. On a full disk the kernel then sends SIGBUS.
  private static let script = """
    cd "$1" || exit 77
    truncate -s 24M image && mkfs.ext4 -q -m 0 -b 1024 image && mkdir disk && mount -o loop image disk || exit 77
    # What the kernel keeps for itself would hide the end.
    echo 0 > "/sys/fs/ext4/$(basename "$(findmnt -n -o SOURCE disk)")/reserved_clusters"
    mkdir -m 700 disk/data disk/small
    program=$2
    start() { "$program" child --first "$1" --database "$PWD/disk/data/soak.db" > said 2>&1 & pid=$!; }
    written() { for i in $(seq 600); do [ "$(stat -c %s said)" -gt 2000 ] && return; sleep 0.1; done; exit 78; }
    start 1; written; kill -9 $pid; wait $pid 2> /dev/null
    for left in 4 8 9 10 12 14 16 18 20 24 28 32 40 60; do
      rm -rf disk/data/soak.db-shm disk/fill disk/small/*; sync -f disk
      # Down to the last block, with files of one block each, of which so many go again.
      for i in $(seq 99); do echo > disk/small/$i; done
      cat /dev/zero > disk/fill 2> /dev/null; sync -f disk
      for i in $(seq 100 400); do echo > disk/small/$i; done 2> /dev/null; sync -f disk
      for i in $(seq $left); do rm disk/small/$i; done; sync -f disk
      start $((left * 1000000)); wait $pid; echo "$left: $? $(tail -c 300 said | tr -cd '[:print:]')"
    done
    rm disk/fill; start 200000000; written; kill -9 $pid; wait $pid 2> /dev/null; echo "room: $(grep -ac Soak: said)"
    umount disk
    """

  @Test func `a full disk ends the program with an error message and never with a signal`() throws {
    try withTemporaryFolder { folder in
      let done = try run(
        "unshare", ["-m", "bash", "-c", Self.script, "bash", folder, try builtProgram("Soak")], deadline: 300)
      #expect(done.status == 0, "\(done.status): \(done.errorText)")
      let lines = done.outputText.split(separator: "\n")
      #expect(lines.count == 15 && lines.last == "room: 0", "\(done.outputText)")
      for line in lines.dropLast() {
        // Exit code 3 is a reported error; a signal would give more than 128.
        let isSaid = line.contains("No space left on device") || line.contains("the disk is full")
        #expect(line.contains(": 3 ") && isSaid, "\(line)")
      }
      // With less than 32 KiB it does not start; with more it writes as far as it can.
      #expect(lines.first?.contains("No space left on device") == true && lines[13].contains("nothing was written"))
    }
  }
}

private let mayMount = unsafe getuid() == 0 && access("/dev/loop-control", R_OK | W_OK) == 0
