import Glibc

public enum FileTime {
  /// When a file was last written, in epoch milliseconds of the wall clock at that time; nil when there is no file.
  public static func modified(_ path: String) -> Int64? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) &* 1_000
  }
}
