import Glibc

/// The one absolute path of what is at a path, without links and dots; `nil` when nothing is there, or nothing to see.
public func realPath(_ path: String) -> String? {
  guard !path.utf8.contains(0), let found = unsafe realpath(path, nil) else { return nil }
  defer { unsafe free(found) }
  return unsafe String(cString: found)
}
