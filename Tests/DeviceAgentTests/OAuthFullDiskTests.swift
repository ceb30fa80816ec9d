import PairingService
import RegentOAuth
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// The disk becomes full while a box renews a token: before the server is asked, or after it has answered.
@Suite struct `A full disk during an OAuth renewal` {
  @Test(.enabled(if: installedProgram("cc") != nil, "there is no C compiler: apt-get install gcc"))
  func `a full disk at any write of a renewal is reported, hands out no unsaved token, and the next renewal succeeds`()
    async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      try await box.addOAuth(service)
      try await box.pairOAuth(service)
      try writeFile("\(folder)/full.c", Self.library.utf8)
      let made = try await box.shell("cc -shared -fPIC -o full.so full.c")
      try #require(made.status == 0, "\(made.errorText)")
      var (step, answersLost) = (0, 0)
      while true {
        step += 1
        try #require(step < 20, "it was never enough")
        try box.age(by: 3_560)
        let (before, asked) = (try box.kept(), service.refreshes)
        let full = try Box(folder, service.url, more: ["LD_PRELOAD": "\(folder)/full.so", "FULL_AT": "\(step)"])
        let cut = try await full.run(["oauth", "token", "tv"])
        if cut.status == 0 { break }
        #expect(cut.status == 1, "step \(step): \(cut.status)")
        #expect(cut.errorText.contains("No space left on device"), "step \(step): \(cut.errorText)")
        #expect(cut.errorText.contains("hint: "), "step \(step): \(cut.errorText)")
        #expect(cut.outputText.isEmpty, "a token was handed out that is not on the disk")
        // The stored tokens are unchanged, and no temporary file is left.
        #expect(try box.kept() == before, "step \(step)")
        let strange = try await box.shell("ls -A state/oauth/tv | grep -vxE 'client|key|lock|pair.lock|tokens'")
        #expect(strange.outputText.isEmpty, "step \(step): \(strange.outputText)")
        if service.refreshes > asked { answersLost += 1 }
        let again = try await box.run(["oauth", "token", "tv"])
        #expect(again.status == 0, "step \(step): \(again.errorText)")
        #expect(again.outputText == (try box.kept().answer.accessToken) + "\n")
        // A response that could not be stored is returned again by the server, so that there is one refresh, not two.
        #expect(service.refreshes == asked + 1, "step \(step)")
      }
      #expect(step >= 3, "\(step)")
      #expect(answersLost == 1, "\(answersLost)")
    }
  }

  /// From write number `FULL_AT` on, every write to a regular file fails with ENOSPC.
  private static let library = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdlib.h>
    #include <sys/stat.h>
    #include <unistd.h>
    ssize_t write(int file, const void *bytes, size_t count) {
      static int writes;
      static ssize_t (*next)(int, const void *, size_t);
      const char *at = getenv("FULL_AT");
      struct stat status;
      if (!next) next = dlsym(RTLD_NEXT, "write");
      if (at && file > 2 && !fstat(file, &status) && S_ISREG(status.st_mode)
          && __atomic_add_fetch(&writes, 1, __ATOMIC_SEQ_CST) >= atoi(at)) {
        errno = ENOSPC;
        return -1;
      }
      return next(file, bytes, count);
    }

    """
}
