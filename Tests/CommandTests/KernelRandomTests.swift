import TestSupport
import Testing

/// A virtual machine that returns to a snapshot must not find random bytes in memory that it uses again.
@Suite struct `Random bytes of the service` {
  @Test(.enabled(if: installedProgram("cc") != nil, "there is no C compiler: apt-get install gcc"))
  func `the service draws random bytes from the kernel for each cookie, and none in advance`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/drawn.c", Self.library.utf8)
      try shell.get("cc -shared -fPIC -o drawn.so drawn.c && : > drawn")
      let environment = ["LD_PRELOAD": "\(folder)/drawn.so", "DRAWN": "\(folder)/drawn"]
      try withService(environment: environment, in: folder) { service in
        func drawn() throws -> Int { try readFile("\(folder)/drawn").count }
        _ = try fetch("\(service.url)/")
        for _ in 0..<8 {
          let before = try drawn()
          #expect(try fetch("\(service.url)/").header("set-cookie") != nil)
          #expect(try drawn() > before)
        }
      }
    }
  }

  /// Replaces `getrandom` by one that appends a letter to the file `DRAWN` for each call.
  private static let library = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
      int log = open(getenv("DRAWN"), O_WRONLY | O_APPEND | O_CLOEXEC);
      if (log >= 0) { write(log, "x", 1); close(log); }
      return syscall(SYS_getrandom, bytes, count, flags);
    }

    """
}
