import Glibc
import RegentPlatform
import TestSupport
import Testing

@Suite("Folders read into memory")
struct FolderTreeTests {
  @Test func `every file is read under its path, but hidden files are not`() throws {
    try withTemporaryFolder { folder in
      unsafe mkdir("\(folder)/b", 0o700)
      unsafe mkdir("\(folder)/.git", 0o700)
      try writeFile("\(folder)/z.txt", Array("z".utf8))
      try writeFile("\(folder)/b/a.txt", [])
      try writeFile("\(folder)/.hidden", [1])
      try writeFile("\(folder)/.git/x", [1])
      let files = try FolderTree.read(folder)
      #expect(files.map(\.path) == ["b/a.txt", "z.txt"])
      #expect(files.map(\.bytes) == [[], [0x7A]])
    }
  }

  @Test func `a symbolic link inside the folder is refused, but the folder itself may be one`() throws {
    try withTemporaryFolder { folder in
      unsafe mkdir("\(folder)/web", 0o700)
      try writeFile("\(folder)/secret", [1])
      try writeFile("\(folder)/web/a", [2])
      #expect(unsafe symlink("web", "\(folder)/link") == 0)
      #expect(try FolderTree.read("\(folder)/link").map(\.path) == ["a"])
      #expect(unsafe symlink("../secret", "\(folder)/web/b") == 0)
      #expect(throws: FileError(.symbolicLink, path: "\(folder)/web/b")) {
        try FolderTree.read("\(folder)/web")
      }
      unsafe unlink("\(folder)/web/b")
      #expect(unsafe symlink("..", "\(folder)/web/up") == 0)
      #expect(throws: FileError(.symbolicLink, path: "\(folder)/web/up")) {
        try FolderTree.read("\(folder)/web")
      }
    }
  }

  @Test func `a pipe is refused and not waited for`() throws {
    try withTemporaryFolder { folder in
      #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
      #expect(throws: FileError(.notAFile, path: "\(folder)/pipe")) { try FolderTree.read(folder) }
    }
  }

  @Test func `a too large file, too many files and too deep folders are refused`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/a", [1, 2, 3])
      #expect(try FolderTree.read(folder, fileLimit: 3).count == 1)
      #expect(throws: FileError(.tooLarge(limit: 2), path: "\(folder)/a")) {
        try FolderTree.read(folder, fileLimit: 2)
      }
      try writeFile("\(folder)/b", [])
      #expect(throws: FileError(.tooLarge(limit: 1), path: folder)) {
        try FolderTree.read(folder, countLimit: 1)
      }
      var deep = folder
      for _ in 0..<20 {
        deep += "/d"
        unsafe mkdir(deep, 0o700)
      }
      #expect(throws: FileError.self) { try FolderTree.read(folder) }
    }
  }

  @Test func `a path that is no folder is reported`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/a", [])
      #expect(throws: FileError(.notADirectory, path: "\(folder)/a")) {
        try FolderTree.read("\(folder)/a")
      }
      #expect(throws: FileError(.missing, path: "\(folder)/gone")) {
        try FolderTree.read("\(folder)/gone")
      }
    }
  }
}
