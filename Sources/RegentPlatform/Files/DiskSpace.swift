internal import Glibc

/// The free space and the size of a file system.
public struct DiskSpace: Sendable {
  /// The bytes that this user may still write.
  public let free: Int64
  /// The bytes of the whole file system.
  public let size: Int64

  public init(free: Int64, size: Int64) { (self.free, self.size) = (free, size) }

  /// Measures the file system that contains a path.
  public init(at path: String) throws(SystemError) {
    try refuseNUL(in: path, operation: "measure")
    var status = statvfs()
    try systemCall("measure", on: path) { unsafe statvfs(path, &status) }
    func bytes(_ blocks: UInt64) -> Int64 {
      let (bytes, isTooMany) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
      return isTooMany ? .max : Int64(clamping: bytes)
    }
    self.init(free: bytes(UInt64(status.f_bavail)), size: bytes(UInt64(status.f_blocks)))
  }

  /// The bytes that this user may still write to the file system that contains the path.
  public static func free(at path: String) throws(SystemError) -> Int64 { try DiskSpace(at: path).free }
}
