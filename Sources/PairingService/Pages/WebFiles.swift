package import RegentPlatform

/// The files of the `web` folder, read once at start: path inside the folder to bytes.
///
/// Nothing is read from disk while requests are answered, so no request can name a file.
package struct WebFiles: Sendable {
  /// The content of each file by its path, for example `templates/home.html`.
  package private(set) var contents: [String: [UInt8]]

  /// Files that are already in memory.
  package init(_ contents: [String: [UInt8]]) {
    self.contents = contents
  }

  /// Reads the whole folder.
  ///
  /// - Parameter folder: the `web` folder.
  /// - Throws: `FileError`; a symbolic link anywhere inside is refused, it could lead out of the folder.
  package init(readingFolder folder: String) throws(FileError) {
    contents = [:]
    // Far above what the pages weigh, and far below what would hurt.
    for file in try FolderTree.read(folder, fileLimit: 2 << 20, countLimit: 512) {
      contents[file.path] = file.bytes
    }
  }

  /// Adds a file, or replaces it.
  package mutating func put(_ path: String, _ bytes: [UInt8]) {
    contents[path] = bytes
  }

  /// The files directly inside one folder whose names end so, in order of their names.
  func inside(_ folder: String, suffix: String = "") -> [(name: String, bytes: [UInt8])] {
    contents.compactMap { path, bytes in
      guard path.hasPrefix("\(folder)/"), path.hasSuffix(suffix) else { return nil }
      return (String(path.dropFirst(folder.count + 1)), bytes)
    }.sorted { $0.0 < $1.0 }
  }
}

/// What is wrong with one of the files of the `web` folder: found at start, never while serving.
package struct WebFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The path inside the `web` folder.
  package let file: String
  /// The line, when the problem has one.
  package let line: Int?
  /// What is wrong and what to write instead.
  package let problem: String

  init(_ file: String, line: Int? = nil, _ problem: String) {
    self.file = file
    self.line = line
    self.problem = problem
  }

  /// `web/templates/home.html:12: there is no field "nmae" here`.
  package var description: String {
    "web/\(file)\(line.map { ":\($0)" } ?? ""): \(problem)"
  }
}
