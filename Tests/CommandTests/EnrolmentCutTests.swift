import Glibc
import TestSupport
import Testing

/// A box that loses power while it enrols, and one whose disk is full.
@Suite struct `Enrolment that is interrupted` {
  @Test(.enabled(if: installedProgram("cc") != nil, "there is no C compiler: apt-get install gcc"))
  func `an enrolment killed at any step leaves the old settings or the new ones, and the next attempt completes it`()
    throws
  {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme")
        let code = try shell.get("regentctl requestor invite acme | awk '$1 == \"code\" { print $2 }'")
        try writeFile("\(folder)/steps.c", Self.library.utf8)
        try shell.get("cc -shared -fPIC -o steps.so steps.c && mkdir -m 700 box")
        let setup = "regent setup --config box/agent.conf --state state --service \(service.url) --code \(code)"
        let old = "# kept\nname = Den"
        let isRoot = getuid() == 0
        var settings: String?
        var step = 0
        while true {
          step += 1
          try shell.get("rm -f box/secret && printf '\(old)\\n' > box/agent.conf && chmod 600 box/agent.conf")
          if isRoot { try shell.get("chgrp 12345 box/agent.conf") }
          let cut = try shell.type("KILL_AT=\(step) LD_PRELOAD=\"$HOME/steps.so\" \(setup)")
          if cut.status == 0 { break }
          #expect(cut.status == 137, "step \(step): \(cut.status) \(cut.errorText)")
          let left = try shell.get("cat box/agent.conf")
          #expect(left == old || left.contains("public-key = "), "step \(step): \(left)")
          if isRoot { #expect(try shell.get("stat -c %g box/agent.conf") == "12345", "step \(step)") }
          // Settings that name the key pair must never exist without its secret.
          #expect(try left == old || shell.get("wc -c < box/secret") == "41", "step \(step)")
          try shell.get(setup)
          let new = try shell.get("cat box/agent.conf box/secret")
          #expect(settings == nil || settings == new, "step \(step): another pair: \(new)")
          settings = new
          #expect(try shell.get("stat -c %a box/secret") == "600")
          #expect(try shell.get("ls -A box | sort | tr '\\n' ' '") == "agent.conf secret ", "step \(step)")
        }
        #expect(step > 8, "\(step)")
        // One code gives one box one key pair, whatever number of attempts it took.
        #expect(try shell.get("regentctl key list acme | awk '$2 == \"calls\"' | wc -l") == "1")
        try shell.get("regent --config box/agent.conf --state state providers")
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounting takes root"))
  func `enrolment on a full disk is reported, keeps the settings, and succeeds when there is room`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme")
        let code = try shell.get("regentctl requestor invite acme | awk '$1 == \"code\" { print $2 }'")
        try writeFile("\(folder)/script", Self.disk.utf8)
        let said = try shell.get("SERVICE=\(service.url) CODE=\(code) unshare -m bash ./script")
        #expect(said.contains("No space left on device"), "\(said)")
        #expect(said.contains("hint: "), "\(said)")
        for line in ["full: 1 agent.conf fill \n# kept\n", "room: 0 agent.conf secret "] {
          #expect(said.contains(line), "\(line): \(said)")
        }
      }
    }
  }

  /// A box without a clock battery starts in 1970.
  @Test(.enabled(if: clockLibrary != nil, noClockLibrary))
  func `a box whose clock starts in 1970 enrols, and its calls are accepted`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme")
        let whole = try shell.get("regentctl requestor invite acme | grep -o 'http[^ ]*#[0-9A-Z-]*'")
        let regent = "LD_PRELOAD=\(clockLibrary ?? "none") FAKETIME='@1970-01-01 00:00:30' TZ=UTC regent"
        let said = try shell.get("\(regent) setup --config box/agent.conf --state state --code \(whole)")
        #expect(said.contains("s behind the service's"), "\(said)")
        #expect(said.contains("this box is enrolled for acme; to sign in"), "\(said)")
        try shell.get("\(regent) --config box/agent.conf --state state providers")
      }
    }
  }

  private static let disk = """
    cd "$HOME" && mkdir -m 700 box && mount -t tmpfs -o size=32k,mode=700 none box || exit 77
    echo '# kept' > box/agent.conf; chmod 600 box/agent.conf
    setup() { regent setup --config box/agent.conf --state state --service "$SERVICE" --code "$CODE" 2>&1; }
    cat /dev/zero > box/fill 2> /dev/null
    setup; echo "full: $? $(ls -A box | tr '\\n' ' ')"; cat box/agent.conf
    rm box/fill; setup > again; echo "room: $? $(ls -A box | tr '\\n' ' ')"

    """

  /// Kills the process before step number `KILL_AT`; a step changes a folder, a file or the service.
  private static let library = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/socket.h>
    #include <sys/stat.h>
    #include <unistd.h>
    static void step(void) {
      static int steps;
      const char *at = getenv("KILL_AT");
      if (at && __atomic_add_fetch(&steps, 1, __ATOMIC_SEQ_CST) == atoi(at)) kill(getpid(), SIGKILL);
    }
    #define STEP(name, parameters, arguments) \\
      int name parameters { \\
        int (*next) parameters = dlsym(RTLD_NEXT, #name); \\
        step(); \\
        return next arguments; \\
      }
    STEP(connect, (int s, const struct sockaddr *a, socklen_t n), (s, a, n))
    STEP(shutdown, (int s, int how), (s, how))
    STEP(fchmod, (int f, mode_t m), (f, m))
    STEP(fsync, (int f), (f))
    STEP(renameat, (int a, const char *x, int b, const char *y), (a, x, b, y))
    STEP(fchownat, (int d, const char *p, uid_t u, gid_t g, int f), (d, p, u, g, f))
    STEP(fchown, (int f, uid_t u, gid_t g), (f, u, g))
    STEP(flock, (int f, int how), (f, how))
    STEP(unlink, (const char *p), (p))
    STEP(unlinkat, (int d, const char *p, int f), (d, p, f))

    """
}
