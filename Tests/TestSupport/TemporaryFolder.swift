internal import Glibc

/// Makes a folder (mode 0700), runs `body` with it and removes the folder with its contents.
public func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let path = try makeTemporaryFolder()
  defer { removeTree(path) }
  return try body(path)
}

/// Makes a folder (mode 0700), runs an asynchronous `body` with it and removes the folder with its contents.
public func withTemporaryFolder<Result>(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (String) async throws -> Result
) async throws -> Result {
  let path = try makeTemporaryFolder()
  defer { removeTree(path) }
  return try await body(path)
}

/// Makes a folder that the caller must remove with `removeTree`.
public func makeTemporaryFolder() throws -> String {
  let base = environment("TMPDIR") ?? "/tmp"
  var template = Array("\(base)/regent-test-XXXXXX".utf8CString)
  let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
    guard let start = buffer.baseAddress, let path = unsafe mkdtemp(start) else { return nil }
    return unsafe String(cString: path)
  }
  guard let made else {
    throw TestSupportError("no temporary folder below \(base): errno \(errno)")
  }
  return made
}

/// Removes a folder and everything in it; symbolic links are removed, not followed.
public func removeTree(_ path: String) {
  // unlink removes files and links; it fails for a folder.
  if unsafe unlink(path) == 0 { return }
  if let folder = unsafe opendir(path) {
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { start in
          unsafe String(cString: start)
        }
      }
      if name != "." && name != ".." { removeTree("\(path)/\(name)") }
    }
    unsafe closedir(folder)
  }
  unsafe rmdir(path)
}

public func readFile(_ path: String) throws -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else {
    throw TestSupportError("cannot open \(path): errno \(errno)")
  }
  defer { close(descriptor) }
  return readToEnd(descriptor)
}

/// Writes a file with the given mode, replacing an existing one.
public func writeFile(_ path: String, _ bytes: some Sequence<UInt8>, mode: UInt32 = 0o600) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
  guard descriptor >= 0 else { throw TestSupportError("cannot write \(path): errno \(errno)") }
  defer { close(descriptor) }
  guard fchmod(descriptor, mode) == 0 else { throw TestSupportError("cannot chmod \(path)") }
  try writeAll(descriptor, Array(bytes))
}

func readToEnd(_ descriptor: Int32) -> [UInt8] {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe chunk.withUnsafeMutableBytes { buffer in
      unsafe read(descriptor, buffer.baseAddress, buffer.count)
    }
    if count > 0 {
      bytes.append(contentsOf: chunk[0..<count])
    } else if count == 0 || errno != EINTR {
      return bytes
    }
  }
}

func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws {
  var done = 0
  while done < bytes.count {
    let count = unsafe bytes.withUnsafeBytes { buffer in
      unsafe write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
    }
    if count > 0 {
      done += count
    } else if errno != EINTR {
      throw TestSupportError("write failed: errno \(errno)")
    }
  }
}

/// Writes the contents that files had at a simulated power cut into a new folder.
public func makeDisk(_ folder: String, from files: [String: [UInt8]]) throws {
  unsafe mkdir(folder, 0o700)
  for (path, content) in files {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    try writeFile("\(folder)/\(name)", content)
  }
}
