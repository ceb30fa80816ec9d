import Glibc

/// When files were written.
public enum FileTime {
  /// When a file was written last, in epoch milliseconds by the clock of then; `nil` when there is none.
  public static func modified(_ path: String) -> Int64? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) &* 1_000
  }
}
