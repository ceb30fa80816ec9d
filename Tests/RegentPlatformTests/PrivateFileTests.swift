import Glibc
import RegentPlatform
import TestSupport
import Testing

@Suite struct `Private files` {
  @Test func `a missing private file is reported as missing and is no error`() throws {
    try withTemporaryFolder { folder in
      let isThere = try PrivateFile.check("\(folder)/nothing")
      #expect(!isThere)
    }
  }

  @Test func `a private file is found if its mode is allowed`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/file", [1])
      #expect(try PrivateFile.check("\(folder)/file"))
      try writeFile("\(folder)/wide", [1], mode: 0o640)
      #expect(try PrivateFile.check("\(folder)/wide", widest: 0o640))
    }
  }

  @Test func `a file that is only read may be a symbolic link but no pipe`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/file", [1], mode: 0o640)
      #expect(unsafe symlink("file", "\(folder)/link") == 0)
      #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
      try PrivateFile.checkTarget(of: "\(folder)/link", widest: 0o640)
      let table: [(String, mode_t, FileError.Kind)] = [
        ("link", 0o600, .modeTooWide(found: 0o640, allowed: 0o600)), ("pipe", 0o600, .notAFile),
        ("nothing", 0o600, .missing),
      ]
      for (name, widest, kind) in table {
        #expect(throws: FileError(kind, path: "\(folder)/\(name)")) {
          try PrivateFile.checkTarget(of: "\(folder)/\(name)", widest: widest)
        }
      }
    }
  }

  @Test func `a file that other users can use, a link and a pipe are refused`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/wide", [1], mode: 0o640)
      #expect(unsafe symlink("\(folder)/wide", "\(folder)/link") == 0)
      #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
      let table: [(String, FileError.Kind)] = [
        ("wide", .modeTooWide(found: 0o640, allowed: 0o600)), ("link", .symbolicLink),
        ("pipe", .notAFile),
      ]
      for (name, kind) in table {
        #expect(throws: FileError(kind, path: "\(folder)/\(name)")) {
          try PrivateFile.check("\(folder)/\(name)")
        }
      }
      #expect(throws: FileError(.missing, path: "\(folder)/none")) {
        try PrivateFile.check("\(folder)/none/file")
      }
    }
  }
}

@Suite struct `The limit on open files` {
  @Test func `the limit on open files is raised if possible and never lowered`() {
    let now = OpenFiles.raiseLimit(to: 0)
    #expect(now > 0)
    #expect(OpenFiles.raiseLimit(to: -5) == now)
    #expect(OpenFiles.raiseLimit(to: now + 1) >= now)
  }
}
