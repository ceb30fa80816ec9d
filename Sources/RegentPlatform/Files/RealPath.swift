import Glibc

/// The absolute path of a file without symbolic links and dots; nil if the file does not exist or cannot be examined.
public func realPath(_ path: String) -> String? { try? resolvedPath(path) }

/// The absolute path of a file without symbolic links and dots.
///
/// Throws if the file does not exist or cannot be examined.
public func resolvedPath(_ path: String) throws(SystemError) -> String {
  try refuseNUL(in: path, operation: "examine")
  let (found, code) = unsafe attemptToGet { unsafe realpath(path, nil) }
  guard let found = unsafe found else {
    throw SystemError(operation: "examine", subject: path, code: code)
  }
  defer { unsafe free(found) }
  return unsafe String(cString: found)
}
