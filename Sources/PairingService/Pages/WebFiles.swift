package import RegentPlatform

/// The files of the `web` folder, read once at start: their contents by their path inside the folder.
///
/// Requests are served from memory only, so no request can read a file of the machine.
package struct WebFiles: Sendable {
  package private(set) var contents: [String: [UInt8]]

  package init(_ contents: [String: [UInt8]]) {
    self.contents = contents
  }

  /// Reads all files of the `web` folder.
  ///
  /// Throws for a symbolic link inside it, because a link could lead out of the folder.
  package init(readingFolder folder: String) throws(FileError) {
    contents = [:]
    // The limits are 2 MiB per file and 512 files: far more than the pages need, and too little to exhaust memory.
    for file in try FolderTree.read(folder, fileLimit: 2 << 20, countLimit: 512) {
      contents[file.path] = file.bytes
    }
  }

  package mutating func put(_ path: String, _ bytes: [UInt8]) {
    contents[path] = bytes
  }

  /// The files directly inside `folder` whose names end with `suffix`, sorted by name.
  func inside(_ folder: String, suffix: String = "") -> [(name: String, bytes: [UInt8])] {
    contents.compactMap { path, bytes in
      guard path.hasPrefix("\(folder)/"), path.hasSuffix(suffix) else { return nil }
      return (String(path.dropFirst(folder.count + 1)), bytes)
    }.sorted { $0.0 < $1.0 }
  }
}

/// An error in a file of the `web` folder.
///
/// It is found at start, never while serving a request.
package struct WebFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The path of the file with the error, inside the `web` folder.
  package let file: String
  /// The line of the error in the file, when it is known.
  package let line: Int?
  /// The error in the file, and how to correct it.
  package let problem: String

  init(_ file: String, line: Int? = nil, _ problem: String) {
    self.file = file
    self.line = line
    self.problem = problem
  }

  /// The error as a sentence, for example `web/templates/home.html:12: there is no field "nmae" here`.
  package var description: String {
    "web/\(file)\(line.map { ":\($0)" } ?? ""): \(problem)"
  }
}
