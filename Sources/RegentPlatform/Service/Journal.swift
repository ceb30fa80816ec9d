import Glibc

/// Tells whether a program's output goes directly to systemd's journal.
public enum Journal {
  /// Whether a descriptor is the stream to the journal that systemd has named in the environment.
  ///
  /// The variable alone is not enough: programs in a desktop session inherit it, and their output may go to a file or a
  /// pipe.
  ///
  /// - Parameters:
  ///   - number: an open descriptor, usually 2.
  ///   - stream: the value of `JOURNAL_STREAM`, `DEVICE:INODE`.
  /// - Returns: whether both are the same file.
  public static func receives(_ number: CInt, stream: String?) -> Bool {
    var status = stat()
    guard let stream, unsafe fstat(number, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }
}
