import Glibc

/// Whether what a program writes goes straight to systemd's journal.
public enum Journal {
  /// Compares a descriptor with the stream that the service manager named.
  ///
  /// The variable alone says little: programs inherit it from a desktop session and are then sent to a file or a pipe.
  ///
  /// - Parameters:
  ///   - number: an open descriptor, usually 2.
  ///   - stream: the text of `JOURNAL_STREAM`, `DEVICE:INODE`.
  /// - Returns: true when both are the same.
  public static func receives(_ number: CInt, stream: String?) -> Bool {
    var status = stat()
    guard let stream, unsafe fstat(number, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }
}
