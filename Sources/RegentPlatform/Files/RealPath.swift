import Glibc

/// The one absolute path of what is at a path, without links and dots; `nil` when nothing is there, or nothing to see.
public func realPath(_ path: String) -> String? { try? resolvedPath(path) }

/// The one absolute path of what is at a path, without links and dots.
///
/// - Throws: `SystemError` naming the path.
public func resolvedPath(_ path: String) throws(SystemError) -> String {
  try refuseNUL(in: path, operation: "examine")
  let (found, code) = unsafe attemptToGet { unsafe realpath(path, nil) }
  guard let found = unsafe found else {
    throw SystemError(operation: "examine", subject: path, code: code)
  }
  defer { unsafe free(found) }
  return unsafe String(cString: found)
}
