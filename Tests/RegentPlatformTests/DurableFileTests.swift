import Glibc
import TestSupport
import Testing

@testable import RegentPlatform

@Suite struct DurableFileTests {
  @Test func `a written file is read back and has exactly the requested mode`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/token"
      for content in [[], [1, 2, 3], [UInt8](repeating: 7, count: 300_000)] as [[UInt8]] {
        try DurableFile.write(content, to: path)
        #expect(try DurableFile.read(path, limit: 300_000) == content)
      }
      #expect(mode(of: path) == 0o600)
      try DurableFile.write([1], to: path, mode: 0o644)
      #expect(mode(of: path) == 0o644)
      #expect(names(in: folder) == ["token"])
    }
  }

  @Test func `an unforced write can be read at once and forced to disk later`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/token"
      let missing = #expect(throws: FileError.self) { try DurableFile.force(path) }
      #expect(missing?.kind == .missing)
      try DurableFile.writeUnforced([1, 2, 3], to: path)
      #expect(try DurableFile.read(path, limit: 10) == [1, 2, 3])
      try DurableFile.force(path)
      try DurableFile.writeUnforced([4], to: path)
      #expect(try DurableFile.read(path, limit: 10) == [4])
      #expect(mode(of: path) == 0o600)
      #expect(names(in: folder) == ["token"])
      // With several paths, the error names the missing one.
      let second = #expect(throws: FileError.self) { try DurableFile.force(path, "\(folder)/other") }
      #expect(second?.kind == .missing && second?.path == "\(folder)/other")
    }
  }

  @Test func `overwriting keeps the file's inode and refuses more bytes than it had`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/token"
      try DurableFile.write([1, 2, 3], to: path)
      // A second hard link to the file, and a directory in place of the draft, so that a new file cannot be created.
      #expect(unsafe link(path, "\(folder)/same") == 0)
      #expect(unsafe mkdir("\(folder)/.token.new0", 0o700) == 0)
      #expect(throws: FileError.self) { try DurableFile.write([4], to: path) }
      try DurableFile.overwrite([4, 5], of: path)
      #expect(try DurableFile.read("\(folder)/same", limit: 10) == [4, 5])
      #expect(throws: FileError.self) { try DurableFile.overwrite([1, 2, 3], of: path) }
      #expect(
        try DurableFile.read(path, limit: 10) == [4, 5], "more than it had is refused before anything is written")
      #expect(unsafe symlink(path, "\(folder)/link") == 0)
      for strange in ["\(folder)/link", "\(folder)/missing", "\(folder)/.token.new0"] {
        #expect(throws: FileError.self) { try DurableFile.overwrite([], of: strange) }
      }
      try DurableFile.overwrite([], of: path)
      #expect(try DurableFile.read(path, limit: 10) == [])
    }
  }

  @Test func `reading a missing file and writing into a missing folder are reported`() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: FileError.self) {
        try DurableFile.read("\(folder)/token", limit: 10)
      }
      #expect(error?.kind == .missing)
      #expect(error?.description == "\(folder)/token does not exist")
      #expect(throws: FileError.self) { try DurableFile.write([1], to: "\(folder)/no/token") }
    }
  }

  @Test func `a file larger than the limit is refused, and one of exactly the limit is read`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/token", [1, 2, 3, 4])
      #expect(try DurableFile.read("\(folder)/token", limit: 4) == [1, 2, 3, 4])
      let error = #expect(throws: FileError.self) {
        try DurableFile.read("\(folder)/token", limit: 3)
      }
      #expect(error?.kind == .tooLarge(limit: 3))
    }
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o700, 0o4600] as [mode_t])
  func `a file with a wider mode than allowed is refused with the chmod command that fixes it`(wide: mode_t) throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/master key"
      try writeFile(path, [1], mode: wide)
      let error = #expect(throws: FileError.self) { try DurableFile.read(path, limit: 10) }
      #expect(error?.kind == .modeTooWide(found: wide, allowed: 0o600))
      #expect(error?.hint == "run chmod 600 '\(path)'")
      #expect(try DurableFile.read(path, limit: 10, widest: nil) == [1])
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func `a file that belongs to another user is refused`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/token"
      try writeFile(path, [1])
      #expect(unsafe chown(path, 12_345, 12_345) == 0)
      let error = #expect(throws: FileError.self) { try DurableFile.read(path, limit: 10) }
      #expect(error?.kind == .foreignOwner(12_345))
    }
  }

  @Test(.enabled(if: geteuid() == 0), arguments: [0o666, 0o600] as [mode_t])
  func `a draft that another user planted is never written to`(planted: mode_t) throws {
    try withTemporaryFolder { folder in
      // A folder that everyone may write, and a draft that another user made and still has open for reading.
      #expect(unsafe chmod(folder, 0o1777) == 0)
      for (name, draft) in [("secret", ".secret.new0"), ("copy", ".copy.partial")] {
        try writeFile("\(folder)/\(draft)", Array("planted".utf8), mode: planted)
        #expect(unsafe chown("\(folder)/\(draft)", 12_345, 12_345) == 0)
        let open = try FileDescriptor.open("\(folder)/\(draft)", O_RDONLY)
        if name == "secret" {
          try DurableFile.write([1, 2, 3], to: "\(folder)/\(name)")
        } else {
          let file = try NewFile("\(folder)/\(name)")
          try file.write([1, 2, 3])
          try file.finish()
        }
        #expect(owner(of: "\(folder)/\(name)") == 0)
        #expect(try open.read(atMost: 10) == Array("planted".utf8))
        #expect(mode(of: "\(folder)/\(name)") == 0o600)
      }
      #expect(names(in: folder) == ["copy", "secret"])
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func `a replaced file gets its owner and group before it gets its name`()
    throws
  {
    try withTemporaryFolder { folder in
      let path = "\(folder)/settings"
      try writeFile(path, [1], mode: 0o640)
      #expect(unsafe chown(path, 12_345, 12_346) == 0)
      try DurableFile.replace([2], of: path) { step in
        guard step == .synced else { return }
        var status = stat()
        #expect(unsafe lstat("\(folder)/.settings.new0", &status) == 0)
        #expect(status.st_uid == 12_345 && status.st_gid == 12_346 && status.st_mode & 0o7777 == 0o640)
      }
      #expect(owner(of: path) == 12_345 && mode(of: path) == 0o640)
    }
  }

  @Test func `a file that another program changed meanwhile is not replaced`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/settings"
      try writeFile(path, [1], mode: 0o640)
      let error = #expect(throws: FileError.self) {
        try DurableFile.replace([2], of: path, whichSays: [1]) { step in
          if step == .synced { try? writeFile(path, [3]) }
        }
      }
      #expect(error?.kind == .changed)
      #expect(try readFile(path) == [3])
      #expect(names(in: folder) == ["settings"])
      try DurableFile.replace([4], of: path, whichSays: [3])
      #expect(try readFile(path) == [4])
    }
  }

  @Test func `drafts of killed writers are deleted, but not those of running ones`() throws {
    try withTemporaryFolder { folder in
      for name in [".token.new0", ".token.new3", ".token.newer", ".other.new0", "token"] {
        try writeFile("\(folder)/\(name)", [1])
      }
      try writeFile("\(folder)/.token.new1", [1])
      let alive = try FileDescriptor.open("\(folder)/.token.new1", O_RDWR)
      #expect(flock(alive.number, LOCK_EX) == 0)
      try DurableFile.clearDrafts(of: "\(folder)/token")
      #expect(names(in: folder) == [".other.new0", ".token.new1", ".token.newer", "token"])
    }
  }

  @Test func `a symbolic link is refused for reading and writing, and its target is unchanged`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/real", [1])
      #expect(unsafe symlink("real", "\(folder)/token") == 0)
      let read = #expect(throws: FileError.self) {
        try DurableFile.read("\(folder)/token", limit: 9)
      }
      let write = #expect(throws: FileError.self) {
        try DurableFile.write([2], to: "\(folder)/token")
      }
      #expect(read?.kind == .symbolicLink)
      #expect(write?.kind == .symbolicLink)
      #expect(try readFile("\(folder)/real") == [1])
    }
  }

  @Test func `a pipe or a folder in place of the file is refused without blocking`() throws {
    try withTemporaryFolder { folder in
      #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
      #expect(unsafe mkdir("\(folder)/folder", 0o700) == 0)
      for name in ["pipe", "folder"] {
        #expect(throws: FileError.self) { try DurableFile.read("\(folder)/\(name)", limit: 9) }
        #expect(throws: FileError.self) { try DurableFile.write([1], to: "\(folder)/\(name)") }
      }
    }
  }

  @Test(arguments: ["", "/", ".", "..", "a/..", "folder/", "a\0b"])
  func `a path without a file name is refused`(path: String) {
    #expect(throws: FileError.self) { try DurableFile.write([1], to: path) }
    #expect(throws: FileError.self) { try DurableFile.read(path, limit: 9) }
  }

  @Test(arguments: DurableFile.Step.allCases)
  func `a writer that is killed after any step leaves the old or the new content`(
    step: DurableFile.Step
  ) async throws {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    let path = "\(folder)/token"
    try DurableFile.write(Array("old".utf8), to: path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, last = step.rawValue as Int] in
      try DurableFile.write(Array("newer".utf8), to: path, mode: 0o600) { step in
        if step.rawValue == last { kill(getpid(), SIGKILL) }
      }
    }
    let found = try DurableFile.read(path, limit: 100)
    let renamed = step.rawValue >= DurableFile.Step.renamed.rawValue
    #expect(found == Array((renamed ? "newer" : "old").utf8))
    // The next write reuses the draft of the killed writer.
    try DurableFile.write(Array("last".utf8), to: path)
    #expect(try DurableFile.read(path, limit: 100) == Array("last".utf8))
    #expect(names(in: folder) == ["token"])
  }

  @Test func `a full disk keeps the old content and leaves no draft`() async throws {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    let path = "\(folder)/token"
    try DurableFile.write(Array("old".utf8), to: path)
    // A file size limit simulates the full disk: writes fail half-way.
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
      guard unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(3) }
      do throws(FileError) {
        try DurableFile.write([UInt8](repeating: 7, count: 10_000), to: path)
        exit(4)
      } catch {
        guard case .system(let system) = error.kind, system.code == EFBIG else { exit(5) }
      }
    }
    #expect(try DurableFile.read(path, limit: 100) == Array("old".utf8))
    #expect(names(in: folder) == ["token"])
  }

  @Test func `concurrent writers and readers never see a torn file`() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/token"
      try DurableFile.write([UInt8](repeating: 0, count: 5_000), to: path)
      let writers = (1...4).map { writer in
        Thread {
          for round in 1...25 {
            try? DurableFile.write(
              [UInt8](repeating: UInt8(writer * 32 + round), count: 5_000 + round), to: path)
          }
        }
      }
      for _ in 0..<300 {
        let content = try DurableFile.read(path, limit: 10_000)
        #expect(content.count >= 5_000)
        #expect(Set(content).count == 1)
      }
      for writer in writers { writer.join() }
      #expect(names(in: folder) == ["token"])
    }
  }

  @Test func `removing a file works, and removing a missing one is no error`() throws {
    try withTemporaryFolder { folder in
      try DurableFile.write([1], to: "\(folder)/token")
      try DurableFile.remove("\(folder)/token")
      try DurableFile.remove("\(folder)/token")
      #expect(names(in: folder).isEmpty)
    }
  }

  @Test func `a missing directory is created privately, and an existing one is checked`() throws {
    try withTemporaryFolder { folder in
      try PrivateDirectory.ensure("\(folder)/a/b/c/")
      for name in ["a", "a/b", "a/b/c"] { #expect(mode(of: "\(folder)/\(name)") == 0o700) }
      try PrivateDirectory.ensure("\(folder)/a/b/c")
      #expect(unsafe chmod("\(folder)/a/b/c", 0o755) == 0)
      let wide = #expect(throws: FileError.self) { try PrivateDirectory.ensure("\(folder)/a/b/c") }
      #expect(wide?.hint == "run chmod 700 \(folder)/a/b/c")
      try PrivateDirectory.ensure("\(folder)/a/b/c", widest: 0o755)
      #expect(unsafe symlink("a", "\(folder)/link") == 0)
      #expect(throws: FileError.self) { try PrivateDirectory.ensure("\(folder)/link") }
      try writeFile("\(folder)/file", [])
      #expect(throws: FileError.self) { try PrivateDirectory.ensure("\(folder)/file") }
      #expect(throws: FileError.self) { try PrivateDirectory.ensure("\(folder)/file/inside") }
      try PrivateDirectory.ensure("\(folder)/double//slash///inside")
      // The parent exists but nothing can be created in it. This once ended in an endless recursion.
      #expect(unsafe symlink("\(folder)/nowhere", "\(folder)/dangling") == 0)
      for path in ["\(folder)/dangling/inside", "/proc/regent"] {
        let refused = #expect(throws: FileError.self) { try PrivateDirectory.ensure(path) }
        #expect(refused?.description.hasPrefix("cannot create \(path)") == true)
      }
    }
  }
}

private func mode(of path: String) -> mode_t {
  var status = stat()
  guard unsafe lstat(path, &status) == 0 else { return 0 }
  return status.st_mode & 0o7777
}

private func owner(of path: String) -> uid_t? {
  var status = stat()
  return unsafe lstat(path, &status) == 0 ? status.st_uid : nil
}

private func names(in folder: String) -> [String] {
  guard let directory = unsafe opendir(folder) else { return [] }
  defer { unsafe closedir(directory) }
  var names: [String] = []
  while let entry = unsafe readdir(directory) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
      unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names.sorted()
}
