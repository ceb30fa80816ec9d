import Testing

@testable import RegentPlatform

@Suite struct `The file system that holds a path` {
  private let table = """
    22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
    25 22 0:21 / /run rw,nosuid - tmpfs tmpfs rw,size=1k
    26 22 8:2 / /var ro,relatime - ext4 /dev/sda2 rw
    27 26 8:3 / /var/lib/my\\040state rw - ext4 /dev/sda3 ro,errors=continue
    28 26 0:30 / /var/lib/regent rw - ext4 /dev/sda4 rw
    29 28 0:31 / /var/lib/regent rw - tmpfs tmpfs rw
    """

  @Test(
    arguments: [
      ("/home/box", "/", "ext4", false), ("/run/user/0", "/run", "tmpfs", false), ("/runner", "/", "ext4", false),
      ("/var/lib/x", "/var", "ext4", true), ("/var/lib/my state/a", "/var/lib/my state", "ext4", true),
      ("/var/lib/regent", "/var/lib/regent", "tmpfs", false), ("/var/lib/regent2", "/var", "ext4", true),
    ] as [(String, String, String, Bool)])
  func `the nearest mount point counts, and of several at one place the last`(
    path: String, place: String, type: String, isReadOnly: Bool
  ) {
    let found = MountPoint.holding(path, in: table)
    #expect(found == MountPoint(path: place, type: type, isReadOnly: isReadOnly))
    #expect(found?.isInMemory == (type == "tmpfs"))
  }

  @Test(arguments: ["", "\n", "a b c", "1 2 3 4 / rw", "1 2 3 4 / - ext4", "22 1 8:1 / / rw - "])
  func `an unreadable mount table gives no mount point`(table: String) {
    #expect(MountPoint.holding("/x", in: table) == nil)
  }
}
