import Glibc
import RegentPlatform
import TestSupport
import Testing

@Suite("A folder read into memory")
struct FolderTreeTests {
  @Test func `every file is there by its path, hidden ones are not`() throws {
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

  @Test func `a link inside is refused wherever it leads, the folder itself may be one`() throws {
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

  @Test func `a pipe is refused instead of waited for`() throws {
    try withTemporaryFolder { folder in
      #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
      #expect(throws: FileError(.notAFile, path: "\(folder)/pipe")) { try FolderTree.read(folder) }
    }
  }

  @Test func `too much is refused: a large file, many files, deep folders`() throws {
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

  @Test func `what is not a folder is said so`() throws {
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
