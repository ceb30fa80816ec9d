internal import Glibc

/// How much room there is where something is written.
public enum DiskSpace {
  /// The bytes that this user may still write on the disk that a path lies on.
  ///
  /// - Throws: `SystemError`.
  public static func free(at path: String) throws(SystemError) -> Int64 {
    try refuseNUL(in: path, operation: "measure")
    var status = statvfs()
    try systemCall("measure", on: path) { unsafe statvfs(path, &status) }
    let (bytes, isTooMany) = UInt64(status.f_bavail).multipliedReportingOverflow(
      by: UInt64(status.f_frsize))
    return isTooMany ? .max : Int64(clamping: bytes)
  }
}
