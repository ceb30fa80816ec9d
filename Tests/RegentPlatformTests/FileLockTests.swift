import Glibc
import RegentPlatform
import TestSupport
import Testing

@Suite struct FileLockTests {
  @Test func `a second claim of a lock is refused and names the holder`() throws {
    try withTemporaryFolder { folder in
      let lock = try FileLock(beside: "\(folder)/regent.db")
      #expect(lock.path == "\(folder)/regent.db.lock")
      let error = #expect(throws: FileError.self) {
        _ = try FileLock(at: "\(folder)/regent.db.lock")
      }
      #expect(error?.kind == .held(by: getpid()))
      #expect(error?.description == "\(folder)/regent.db.lock is held by process \(getpid())")
      #expect(error?.hint?.contains("stop process \(getpid())") == true)
      lock.release()
    }
  }

  @Test func `a released lock can be claimed again, and its file then names no process`() throws {
    try withTemporaryFolder { folder in
      try FileLock(at: "\(folder)/a.lock").release()
      #expect(try readFile("\(folder)/a.lock").isEmpty)
      let again = try FileLock(at: "\(folder)/a.lock")
      #expect(try readFile("\(folder)/a.lock") == Array("\(getpid())\n".utf8))
      again.release()
    }
  }

  @Test func `a lock is released with the object that holds it`() throws {
    try withTemporaryFolder { folder in
      func claimAndForget() throws { _ = try FileLock(at: "\(folder)/a.lock") }
      try claimAndForget()
      try claimAndForget()
    }
  }

  @Test func `the lock file is private`() throws {
    try withTemporaryFolder { folder in
      let lock = try FileLock(at: "\(folder)/a.lock")
      var status = stat()
      #expect(unsafe stat("\(folder)/a.lock", &status) == 0)
      #expect(status.st_mode & 0o7777 == 0o600)
      lock.release()
    }
  }

  @Test func `a killed process loses its lock`() async throws {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    let path = "\(folder)/a.lock"
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try FileLock(at: path)
      kill(getpid(), SIGKILL)
      lock.release()
    }
    // Its process number is still in the file, but only the kernel's lock counts.
    #expect(try !readFile(path).isEmpty)
    try FileLock(at: path).release()
  }

  @Test func `another process is refused and told which process holds the lock`() async throws {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    let path = "\(folder)/a.lock"
    let lock = try FileLock(at: path)
    await #expect(processExitsWith: .success) {
      [path = path as String, holder = getpid() as Int32] in
      do throws(FileError) {
        _ = try FileLock(at: path)
        exit(3)
      } catch {
        guard error.kind == .held(by: holder) else { exit(4) }
      }
    }
    lock.release()
  }

  @Test func `a process that claims a held lock with a timeout waits until the lock is released`() throws {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    let path = "\(folder)/a.lock"
    let held = Flag("the lock is held")
    let refused = Flag("a claim without patience is refused")
    let holder = Thread {
      guard let lock = try? FileLock(at: path) else { return }
      held.raise()
      _ = try? refused.block()
      lock.release()
    }
    try held.block()
    #expect(throws: FileError.self) { _ = try FileLock(at: path) }
    refused.raise()
    try FileLock(at: path, patience: .seconds(20)).release()
    holder.join()
  }

  @Test(arguments: ["link", "pipe", "folder"])
  func `a link, a pipe or a folder in place of the lock file is refused`(kind: String) throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/a.lock"
      switch kind {
      case "link": #expect(unsafe symlink("\(folder)/elsewhere", path) == 0)
      case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
      default: #expect(unsafe mkdir(path, 0o700) == 0)
      }
      #expect(throws: FileError.self) { _ = try FileLock(at: path) }
      #expect(unsafe access("\(folder)/elsewhere", F_OK) != 0)
    }
  }

  @Test func `a lock file that other users may open is refused with the chmod command that fixes it`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/a b.lock"
      try writeFile(path, [], mode: 0o644)
      let error = #expect(throws: FileError.self) { _ = try FileLock(at: path) }
      #expect(error?.kind == .modeTooWide(found: 0o644, allowed: 0o600))
      #expect(error?.hint == "run chmod 600 '\(path)'")
    }
  }

  @Test func `eight threads never hold the lock at the same time`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/a.lock"
      let counter = "\(folder)/count"
      try writeFile(counter, "0".utf8)
      let threads = (0..<8).map { _ in
        Thread {
          for _ in 0..<20 {
            guard let lock = try? FileLock(at: path, patience: .seconds(60)) else { return }
            let value = (try? readFile(counter)).flatMap {
              Int(String(decoding: $0, as: UTF8.self))
            }
            try? writeFile(counter, "\((value ?? -1_000) + 1)".utf8)
            lock.release()
          }
        }
      }
      for thread in threads { thread.join() }
      #expect(try readFile(counter) == Array("160".utf8))
    }
  }
}
